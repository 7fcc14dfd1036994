//! Arrays of NumPy in files (`.npy`, versions 1 to 3): what vectors are made of.
//!
//! A file is `\x93NUMPY`, two bytes of version, the length of the header (two bytes, four from
//! version 2 on), the header, which is a literal of a Python dictionary, and the numbers.

/// Numbers of an array.
#[derive(Debug, Clone, PartialEq)]
pub enum Numbers {
    F32(Vec<f32>),
    F64(Vec<f64>),
    I8(Vec<i8>),
}

const MAGIC: &[u8] = b"\x93NUMPY";

/// Longest header that is read.
const LONGEST: usize = 1 << 16;

/// The numbers of an array and its second dimension; the error says what is wrong.
pub fn parse(bytes: &[u8]) -> Result<(Numbers, usize), String> {
    let rest = bytes.strip_prefix(MAGIC).ok_or("it does not begin as a NumPy array does")?;
    let cut_short = || "the header is truncated".to_owned();
    let (version, rest) = rest.split_at_checked(2).ok_or_else(cut_short)?;
    let width = match version[0] {
        1 => 2,
        2 | 3 => 4,
        other => return Err(format!("its version is {other}, but this build reads 1 to 3")),
    };
    let (length, rest) = rest.split_at_checked(width).ok_or_else(cut_short)?;
    let length = length.iter().rev().fold(0, |length, &byte| length << 8 | usize::from(byte));
    let (header, data) = rest.split_at_checked(length).filter(|_| length <= LONGEST).ok_or_else(cut_short)?;
    let header = std::str::from_utf8(header).map_err(|_| "the header is not text")?;
    let (rows, dimension) = shape(header)?;
    let by_columns = value(header, "fortran_order")?.starts_with("True");
    let kind = value(header, "descr")?;
    let kind = kind.trim_start_matches(['\'', '"']).split(['\'', '"']).next().unwrap_or_default();
    let size = match kind {
        "<f4" | ">f4" => 4,
        "<f8" | ">f8" => 8,
        "|i1" | "|u1" => 1,
        _ => return Err(format!("its numbers are '{kind}', but must be float32, float64, int8 or uint8")),
    };
    let expected = rows.checked_mul(dimension).and_then(|count| count.checked_mul(size));
    if expected != Some(data.len()) {
        return Err(format!("{rows} vectors of {dimension} numbers do not have {} bytes", data.len()));
    }
    Ok((numbers(kind, data).map_rows(by_columns.then_some((rows, dimension))), dimension))
}

/// The numbers of a kind, in the order of the file.
fn numbers(kind: &str, data: &[u8]) -> Numbers {
    match kind {
        "<f4" => Numbers::F32(data.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()),
        ">f4" => Numbers::F32(data.as_chunks().0.iter().map(|&bytes| f32::from_be_bytes(bytes)).collect()),
        "<f8" => Numbers::F64(data.as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes)).collect()),
        ">f8" => Numbers::F64(data.as_chunks().0.iter().map(|&bytes| f64::from_be_bytes(bytes)).collect()),
        // Bytes that int8 has are integers as those are; others are quantised.
        "|u1" if data.iter().any(|&byte| byte > i8::MAX as u8) => {
            Numbers::F32(data.iter().map(|&byte| byte.into()).collect())
        }
        _ => Numbers::I8(data.iter().map(|&byte| byte as i8).collect()),
    }
}

impl Numbers {
    /// The same row by row, if they are column by column (Fortran's order) of so many rows and
    /// columns.
    fn map_rows(self, by_columns: Option<(usize, usize)>) -> Self {
        let Some((rows, columns)) = by_columns else { return self };
        match self {
            Self::F32(numbers) => Self::F32(transposed(&numbers, rows, columns)),
            Self::F64(numbers) => Self::F64(transposed(&numbers, rows, columns)),
            Self::I8(numbers) => Self::I8(transposed(&numbers, rows, columns)),
        }
    }
}

/// Row by row what is given column by column.
fn transposed<T: Copy>(numbers: &[T], rows: usize, columns: usize) -> Vec<T> {
    (0..rows).flat_map(|row| (0..columns).map(move |column| numbers[column * rows + row])).collect()
}

/// What stands behind a key of the header.
fn value<'a>(header: &'a str, key: &str) -> Result<&'a str, String> {
    let found = [format!("'{key}':"), format!("\"{key}\":")].iter().find_map(|key| header.split_once(key.as_str()));
    let (_, value) = found.ok_or_else(|| format!("the header has no '{key}'"))?;
    Ok(value.trim_start())
}

/// Rows and columns; an array of one dimension is one row.
fn shape(header: &str) -> Result<(usize, usize), String> {
    let text = value(header, "shape")?;
    let numbers = text.strip_prefix('(').and_then(|text| text.split_once(')')).map(|(numbers, _)| numbers);
    let numbers: Option<Vec<usize>> = numbers.and_then(|numbers| {
        let numbers = numbers.split(',').map(str::trim).filter(|number| !number.is_empty());
        numbers.map(|number| number.parse().ok()).collect()
    });
    match numbers.as_deref() {
        Some([dimension]) => Ok((1, *dimension)),
        Some([rows, dimension]) => Ok((*rows, *dimension)),
        Some(other) => Err(format!("it has {} dimensions, but a list of vectors has two", other.len())),
        None => Err("its shape cannot be read".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([version, 0]);
        let length = (header.len() as u32).to_le_bytes();
        bytes.extend(&length[..if version == 1 { 2 } else { 4 }]);
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    fn header(kind: &str, order: &str, shape: &str) -> String {
        format!("{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}      \n")
    }

    #[test]
    fn arrays_are_read() {
        let floats: Vec<u8> = [0.5f32, -1.0, 2.0, 3.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        for version in 1..=3 {
            let bytes = file(version, &header("<f4", "False", "(2, 2)"), &floats);
            assert_eq!(parse(&bytes), Ok((Numbers::F32(vec![0.5, -1.0, 2.0, 3.0]), 2)));
        }
        let doubles: Vec<u8> = [0.5f64, f64::NAN].iter().flat_map(|x| x.to_le_bytes()).collect();
        let (numbers, dimension) = parse(&file(1, &header("<f8", "False", "(2,)"), &doubles)).unwrap();
        assert!(matches!(numbers, Numbers::F64(numbers) if numbers[0] == 0.5 && numbers[1].is_nan()));
        assert_eq!(dimension, 2);
        let bytes = file(2, &header("|i1", "False", "(3, 1)"), &[1, 255, 128]);
        assert_eq!(parse(&bytes), Ok((Numbers::I8(vec![1, -1, -128]), 1)));
    }

    #[test]
    fn other_orders_of_bytes_and_of_numbers_are_read() {
        let own = [0.5f32, -1.0, 2.0, 3.0, -4.5, 5.25];
        let by_columns = [0.5f32, 3.0, -1.0, -4.5, 2.0, 5.25];
        let little = |values: [f32; 6]| values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
        let big = |values: [f32; 6]| values.iter().flat_map(|x| x.to_be_bytes()).collect::<Vec<u8>>();
        let wanted = Ok((Numbers::F32(own.to_vec()), 3));
        assert_eq!(parse(&file(1, &header(">f4", "False", "(2, 3)"), &big(own))), wanted);
        assert_eq!(parse(&file(1, &header("<f4", "True", "(2, 3)"), &little(by_columns))), wanted);
        assert_eq!(parse(&file(1, &header(">f4", "True", "(2, 3)"), &big(by_columns))), wanted);
        let doubles: Vec<u8> = [0.5f64, -1e300].iter().flat_map(|x| x.to_be_bytes()).collect();
        let wanted = Ok((Numbers::F64(vec![0.5, -1e300]), 1));
        assert_eq!(parse(&file(1, &header(">f8", "False", "(2, 1)"), &doubles)), wanted);
        let bytes = file(1, &header("|i1", "True", "(2, 2)"), &[1, 2, 255, 4]);
        assert_eq!(parse(&bytes), Ok((Numbers::I8(vec![1, -1, 2, 4]), 2)));
        // One dimension has no order.
        let bytes = file(1, &header("|i1", "True", "(3,)"), &[1, 2, 3]);
        assert_eq!(parse(&bytes), Ok((Numbers::I8(vec![1, 2, 3]), 3)));
    }

    #[test]
    fn bytes_without_a_sign_are_integers_where_int8_has_them() {
        let bytes = file(1, &header("|u1", "False", "(1, 3)"), &[0, 1, 127]);
        assert_eq!(parse(&bytes), Ok((Numbers::I8(vec![0, 1, 127]), 3)));
        let bytes = file(1, &header("|u1", "False", "(1, 3)"), &[0, 128, 255]);
        assert_eq!(parse(&bytes), Ok((Numbers::F32(vec![0.0, 128.0, 255.0]), 3)));
    }

    #[test]
    fn what_is_no_list_of_vectors_is_refused() {
        let good = file(1, &header("|i1", "False", "(2, 2)"), &[1, 2, 3, 4]);
        assert!(parse(&good).is_ok());
        for end in 0..good.len() {
            assert!(parse(&good[..end]).is_err(), "{end}");
        }
        let refused = |kind, order, shape| parse(&file(1, &header(kind, order, shape), &[1, 2, 3, 4])).unwrap_err();
        assert!(refused("<f2", "False", "(1, 2)").contains("'<f2'"));
        assert!(refused("<i8", "False", "(1, 1)").contains("float32"));
        assert!(refused("|i1", "True", "(2, 3)").contains("do not have 4 bytes"));
        assert!(refused("|i1", "False", "(2, 3)").contains("do not have 4 bytes"));
        assert!(refused("|i1", "False", "(1, 2, 2)").contains("3 dimensions"));
        assert!(refused("|i1", "False", "(18446744073709551615, 2)").contains("do not have 4 bytes"));
        assert!(refused("|i1", "False", "(a, 2)").contains("shape"));
        assert!(parse(&file(4, &header("|i1", "False", "(4,)"), &[1, 2, 3, 4])).unwrap_err().contains("version is 4"));
        assert!(parse(b"id,x\n1,2\n").unwrap_err().contains("NumPy"));
    }
}

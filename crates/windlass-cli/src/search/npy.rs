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
    let rest = bytes.strip_prefix(MAGIC).ok_or("it does not begin as an array of NumPy does")?;
    let cut_short = || "the header is cut short".to_owned();
    let (version, rest) = rest.split_at_checked(2).ok_or_else(cut_short)?;
    let width = match version[0] {
        1 => 2,
        2 | 3 => 4,
        other => return Err(format!("version {other}, where 1 to 3 are read")),
    };
    let (length, rest) = rest.split_at_checked(width).ok_or_else(cut_short)?;
    let length = length.iter().rev().fold(0, |length, &byte| length << 8 | usize::from(byte));
    let (header, data) = rest.split_at_checked(length).filter(|_| length <= LONGEST).ok_or_else(cut_short)?;
    let header = std::str::from_utf8(header).map_err(|_| "the header is no text")?;
    let (rows, dimension) = shape(header)?;
    if value(header, "fortran_order")?.starts_with("True") {
        return Err("it is in Fortran order: save numpy.ascontiguousarray(x)".into());
    }
    let kind = value(header, "descr")?;
    let kind = kind.trim_start_matches(['\'', '"']).split(['\'', '"']).next().unwrap_or_default();
    let size = match kind {
        "<f4" => 4,
        "<f8" => 8,
        "|i1" => 1,
        _ => return Err(format!("its numbers are '{kind}', where float32, float64 and int8 are read")),
    };
    let expected = rows.checked_mul(dimension).and_then(|count| count.checked_mul(size));
    if expected != Some(data.len()) {
        return Err(format!("{rows} vectors of {dimension} numbers are not {} bytes", data.len()));
    }
    let numbers = match size {
        4 => Numbers::F32(data.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()),
        8 => Numbers::F64(data.as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes)).collect()),
        _ => Numbers::I8(data.iter().map(|&byte| byte as i8).collect()),
    };
    Ok((numbers, dimension))
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
        Some(other) => Err(format!("it has {} dimensions, where a list of vectors has two", other.len())),
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
    fn what_is_no_list_of_vectors_is_refused() {
        let good = file(1, &header("|i1", "False", "(2, 2)"), &[1, 2, 3, 4]);
        assert!(parse(&good).is_ok());
        for end in 0..good.len() {
            assert!(parse(&good[..end]).is_err(), "{end}");
        }
        let refused = |kind, order, shape| parse(&file(1, &header(kind, order, shape), &[1, 2, 3, 4])).unwrap_err();
        assert!(refused(">f4", "False", "(1, 1)").contains("'>f4'"));
        assert!(refused("<i8", "False", "(1, 1)").contains("float32"));
        assert!(refused("|i1", "True", "(2, 2)").contains("ascontiguousarray"));
        assert!(refused("|i1", "False", "(2, 3)").contains("not 4 bytes"));
        assert!(refused("|i1", "False", "(1, 2, 2)").contains("3 dimensions"));
        assert!(refused("|i1", "False", "(18446744073709551615, 2)").contains("not 4 bytes"));
        assert!(refused("|i1", "False", "(a, 2)").contains("shape"));
        assert!(parse(&file(4, &header("|i1", "False", "(4,)"), &[1, 2, 3, 4])).unwrap_err().contains("version 4"));
        assert!(parse(b"id,x\n1,2\n").unwrap_err().contains("NumPy"));
    }
}

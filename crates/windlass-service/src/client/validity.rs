//! The period in which a certificate is valid (RFC 5280, §4.1.2.5). It is parsed here, because the
//! verifier of certificates reads it only while it refuses a certificate.

/// Tags of DER (X.690).
const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// The first element in some bytes: its tag, its content, and what follows.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81..=0x83 => {
            let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (digits.iter().fold(0, |length, &digit| length << 8 | usize::from(digit)), rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

/// The content of an element of this tag, and what follows it.
fn expect(tag: u8, bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    element(bytes).filter(|(found, ..)| *found == tag).map(|(_, content, rest)| (content, rest))
}

/// Seconds since 1970 of the first and the last moment at which a certificate is valid; none for
/// bytes that are no certificate.
pub(super) fn validity(certificate: &[u8]) -> Option<[i64; 2]> {
    let (whole, _) = expect(SEQUENCE, certificate)?;
    let (mut rest, _) = expect(SEQUENCE, whole)?;
    if let Some((_, after)) = expect(VERSION, rest) {
        rest = after;
    }
    // Serial number, algorithm of the signature, issuer.
    for _ in 0..3 {
        rest = element(rest)?.2;
    }
    let (both, _) = expect(SEQUENCE, rest)?;
    let (tag, begin, rest) = element(both)?;
    let begin = seconds(tag, begin)?;
    let (tag, end, _) = element(rest)?;
    Some([begin, seconds(tag, end)?])
}

/// A moment in seconds since 1970: `YYMMDDHHMMSSZ`, from 1950 to 2049, or `YYYYMMDDHHMMSSZ`.
fn seconds(tag: u8, text: &[u8]) -> Option<i64> {
    let digits = text.strip_suffix(b"Z")?;
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = |digits: &[u8]| digits.iter().fold(0, |number, digit| 10 * number + i64::from(digit - b'0'));
    let (year, rest) = match (tag, digits.len()) {
        (UTC_TIME, 12) => {
            let year = number(&digits[..2]);
            (if year < 50 { 2000 + year } else { 1900 + year }, &digits[2..])
        }
        (GENERALIZED_TIME, 14) => (number(&digits[..4]), &digits[4..]),
        _ => return None,
    };
    let [month, day, hour, minute, second] = [0, 2, 4, 6, 8].map(|at| number(&rest[at..at + 2]));
    let sound = (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60 && second < 61;
    sound.then(|| ((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second)
}

/// Days from 1 January 1970 to a day of the Gregorian calendar. A year is counted from March, so
/// that the day that is sometimes there is its last; 400 of them have 146,097 days.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * month + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        // Counted one by one, month by month.
        let leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let mut expected = 0;
        for year in 1970..2420 {
            for month in 1..=12 {
                let length = match month {
                    2 => 28 + i64::from(leap(year)),
                    4 | 6 | 9 | 11 => 30,
                    _ => 31,
                };
                for day in 1..=length {
                    assert_eq!(days(year, month, day), expected, "{year}-{month}-{day}");
                    expected += 1;
                }
            }
        }
        assert_eq!(days(1950, 1, 1), -7305);
    }

    #[test]
    fn both_forms_of_a_moment_are_read_and_others_refused() {
        assert_eq!(seconds(UTC_TIME, b"261127184500Z"), Some(1_795_805_100));
        assert_eq!(seconds(GENERALIZED_TIME, b"20261127184500Z"), Some(1_795_805_100));
        assert_eq!(seconds(UTC_TIME, b"500101000000Z"), Some(-631_152_000));
        assert_eq!(seconds(GENERALIZED_TIME, b"20500101000000Z"), Some(2_524_608_000));
        for bad in ["", "Z", "261127184500", "2611271845Z", "261327184500Z", "261100184500Z", "2611271845-1Z"] {
            assert_eq!(seconds(UTC_TIME, bad.as_bytes()), None, "{bad}");
        }
        assert_eq!(seconds(0x04, b"261127184500Z"), None);
    }

    #[test]
    fn certificates_say_when_they_are_valid_and_other_bytes_do_not() {
        let mut params = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        params.not_before = rcgen::date_time_ymd(2020, 2, 29);
        params.not_after = rcgen::date_time_ymd(2071, 12, 31);
        let key = rcgen::KeyPair::generate().unwrap();
        let made = params.self_signed(&key).unwrap();
        let der = made.der().to_vec();
        let day = 86_400;
        assert_eq!(validity(&der), Some([day * days(2020, 2, 29), day * days(2071, 12, 31)]));
        for end in 0..der.len().min(200) {
            assert!(validity(&der[..end]).is_none(), "{end} bytes of it");
        }
        for at in 0..der.len().min(120) {
            let mut bent = der.clone();
            bent[at] ^= 0x80;
            // It may be another certificate: it must not panic.
            let _ = validity(&bent);
        }
    }
}

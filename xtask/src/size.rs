//! Sizes as people write them: `64K`, `100M`, `1G`.

pub(crate) fn parse(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(['K', 'M', 'G']);
    let factor = match &text[digits.len()..] {
        "" => 1,
        "K" => 1_000,
        "M" => 1_000_000,
        "G" => 1_000_000_000,
        _ => return Err("one suffix at most: K, M or G".to_owned()),
    };
    let number: u64 = digits.parse().map_err(|_| "a number, perhaps with K, M or G behind it".to_owned())?;
    number.checked_mul(factor).ok_or_else(|| "too large".to_owned())
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn suffixes_are_powers_of_ten() {
        assert_eq!(parse("123"), Ok(123));
        assert_eq!(parse("64K"), Ok(64_000));
        assert_eq!(parse("100M"), Ok(100_000_000));
        assert_eq!(parse("1G"), Ok(1_000_000_000));
        assert!(parse("1GG").is_err());
        assert!(parse("G").is_err());
        assert!(parse("99999999999G").is_err());
    }
}

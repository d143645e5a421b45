//! Units as producers write them, and costs as people read them.

use proptest::prelude::*;

use super::*;

const NS: u64 = 1_000;
const US: u64 = 1_000_000;
const MS: u64 = 1_000_000_000;

#[test]
fn units_of_names() {
    let time = CostUnit::Picoseconds;
    let cases: &[(&str, &str, CostUnit)] = &[
        ("Ir", "", CostUnit::Count),
        ("Time_(10ns)", "", time(10 * NS)),
        ("Time_(µs)", "", time(US)),
        ("Time_(\u{3bc}s)", "", time(US)),
        ("Time (µs)", "", time(US)),
        ("Memory_(bytes)", "", CostUnit::Bytes(1)),
        ("Memory_Size_(bytes)", "", CostUnit::Bytes(1)),
        ("BlocksCount", "", CostUnit::Count),
        ("cpu(ms)", "", time(MS)),
        ("samples(count)", "", CostUnit::Count),
        ("inuse_space(MB)", "", CostUnit::Bytes(1 << 20)),
        ("alloc_space(kB)", "", CostUnit::Bytes(1 << 10)),
        ("alloc_space(minimum)", "", CostUnit::Count),
        ("ns", "Nanoseconds", time(NS)),
        ("ms", "", time(MS)),
        ("microseconds", "", time(US)),
        ("usphit", "microseconds/hit", CostUnit::Count),
        ("sysTime", "sysTime (elapsed ms)", time(MS)),
        ("sysTime", "sysTime (elapsed us)", time(US)),
        ("sysCpuTime", "sysCpuTime (system cpu ns)", time(NS)),
        ("Wt", "Wall time (100 us)", time(100 * US)),
        ("curB", "currently allocated Bytes", CostUnit::Bytes(1)),
        ("curBk", "currently allocated Blocks", CostUnit::Count),
        ("DB", "Definitely lost Bytes (direct plus indirect)", CostUnit::Bytes(1)),
        ("DIB", "Definitely Indirectly lost Bytes (subset of DB)", CostUnit::Bytes(1)),
        ("Rtime", "ResolveTime", CostUnit::Count),
        ("Status", "", CostUnit::Count),
        ("t", "wall (s)", time(1000 * MS)),
        ("t", "(0ns)", time(NS)),
        ("t", "(99999999999999999999999ns)", time(NS)),
        ("()", ")(", CostUnit::Count),
    ];
    for (name, long_name, unit) in cases {
        let long_name = (!long_name.is_empty()).then_some(long_name.as_bytes());
        assert_eq!(CostUnit::parse(name.as_bytes(), long_name), *unit, "{name}");
    }
}

#[test]
fn shown_costs() {
    let count = CostUnit::Count;
    let cases: &[(CostUnit, Cost, &str)] = &[
        (count, 0, "0"),
        (count, 999, "999"),
        (count, 1_234_567, "1,234,567"),
        (count, -1_000, "-1,000"),
        (CostUnit::Picoseconds(10 * NS), 1_234_567, "12.3 ms"),
        (CostUnit::Picoseconds(10 * NS), 0, "0 ns"),
        (CostUnit::Picoseconds(10 * NS), 1, "10 ns"),
        (CostUnit::Picoseconds(US), 999, "999 µs"),
        (CostUnit::Picoseconds(NS), 999_499, "999 µs"),
        (CostUnit::Picoseconds(NS), 999_500, "1 ms"),
        (CostUnit::Picoseconds(NS), 9_995, "10 µs"),
        (CostUnit::Picoseconds(NS), 9_994, "9.99 µs"),
        (CostUnit::Picoseconds(MS), 7_200_000, "7,200 s"),
        (CostUnit::Picoseconds(MS), -1_500, "-1.5 s"),
        (CostUnit::Bytes(1), 512, "512 B"),
        (CostUnit::Bytes(1), 1_023, "1,023 B"),
        (CostUnit::Bytes(1), 4_718_592, "4.5 MiB"),
        (CostUnit::Bytes(1), 1_048_575, "1 MiB"),
        (CostUnit::Bytes(1), 1_034_000, "1,010 KiB"),
        (CostUnit::Bytes(1 << 20), 3, "3 MiB"),
    ];
    for (unit, cost, shown) in cases {
        assert_eq!(unit.show(*cost), *shown, "{cost} × {unit}");
    }
    assert_eq!(CostUnit::Picoseconds(10 * NS).to_string(), "10 ns");
    assert_eq!(CostUnit::Count.to_string(), "");
    assert_eq!(grouped(Cost::MIN), "-170,141,183,460,469,231,731,687,303,715,884,105,728");
    assert_eq!(CostUnit::Bytes(4).show(Cost::MAX), format!("{} × 4 B", grouped(Cost::MAX)));
}

proptest! {
    #[test]
    fn all_digits_are_there(cost in any::<Cost>()) {
        let digits = grouped(cost).replace(',', "");
        prop_assert_eq!(digits.parse(), Ok(cost));
    }

    #[test]
    fn shown_costs_are_rounded_by_at_most_half_a_percent(cost in 1i128..1_000_000_000_000_000, bytes in any::<bool>(), each in 1u64..100_000) {
        let unit = if bytes { CostUnit::Bytes(each) } else { CostUnit::Picoseconds(each) };
        let shown = unit.show(cost);
        let (number, name) = shown.rsplit_once(' ').unwrap();
        let number: f64 = number.replace(',', "").parse().unwrap();
        let one = match name {
            "ps" | "B" => 1.0,
            "ns" => 1e3,
            "µs" => 1e6,
            "ms" => 1e9,
            "s" => 1e12,
            "KiB" => 1024.0,
            "MiB" => 1024f64.powi(2),
            "GiB" => 1024f64.powi(3),
            "TiB" => 1024f64.powi(4),
            "PiB" => 1024f64.powi(5),
            other => panic!("{other}"),
        };
        let exact = cost as f64 * each as f64;
        prop_assert!((number * one - exact).abs() <= exact * 0.005 + 0.5, "{} for {}", shown, exact);
    }

    #[test]
    fn any_name_is_parsed(name in prop::collection::vec(any::<u8>(), 0..20), long_name in "\\PC{0,20}") {
        let _ = CostUnit::parse(&name, Some(long_name.as_bytes()));
    }
}

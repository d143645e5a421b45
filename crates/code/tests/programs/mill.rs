use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq)]
struct Sack {
    name: String,
    grains: Vec<u32>,
}

impl Sack {
    fn new(name: &str, count: u32) -> Self {
        Self { name: name.to_owned(), grains: (0..count).map(|i| i * 31 % 97).collect() }
    }

    fn weigh(grain: u32) -> u32 {
        grain * 7 % 13
    }

    fn total(&self) -> u32 {
        self.grains.iter().copied().filter(|grain| grain % 2 == 1).map(Self::weigh).sum()
    }
}

#[inline(never)]
fn grind(sacks: &mut [Sack]) -> BTreeMap<String, u32> {
    sacks.sort_by(|left, right| left.total().cmp(&right.total()).then_with(|| left.name.cmp(&right.name)));
    sacks.iter().map(|sack| (sack.name.clone(), sack.total())).collect()
}

fn main() {
    let mut sacks: Vec<Sack> = (1..20).map(|i| Sack::new(&format!("sack {i}"), i * 10)).collect();
    let flour = grind(&mut sacks);
    println!("{:?}", flour.iter().next());
}

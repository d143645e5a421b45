//! The arrows of jumps beside the instructions of a function: each target has a lane, the shorter ones inside.
//!
//! Rows are those that are shown. What does not fit in the lanes is not drawn; its jumps have their target as text.

use std::collections::BTreeMap;

/// A jump between two rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Arrow {
    pub(super) from: usize,
    pub(super) to: usize,
}

/// The lines that leave the middle of a cell.
pub(super) const UP: u8 = 1;
pub(super) const DOWN: u8 = 2;
pub(super) const LEFT: u8 = 4;
pub(super) const RIGHT: u8 = 8;

/// The end of the lanes of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum End {
    #[default]
    None,
    /// A jump starts here.
    Source,
    /// A jump leads here.
    Target,
}

/// The arrows of all rows.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Lanes {
    /// The count of lanes.
    width: usize,
    /// By row, the lines in each lane, the outermost first.
    cells: Vec<u8>,
    ends: Vec<End>,
    /// By arrow, `true` if it is drawn.
    pub(super) is_drawn: Vec<bool>,
}

/// All arrows to a row.
struct Bundle {
    target: usize,
    first: usize,
    last: usize,
    arrows: Vec<usize>,
}

impl Lanes {
    /// Places arrows in at most `max_lanes` lanes.
    pub(super) fn new(rows: usize, arrows: &[Arrow], max_lanes: usize) -> Self {
        let mut bundles: BTreeMap<usize, Bundle> = BTreeMap::new();
        for (nth, arrow) in arrows.iter().enumerate() {
            if arrow.from == arrow.to {
                continue;
            }
            let bundle = bundles.entry(arrow.to).or_insert_with(|| Bundle {
                target: arrow.to,
                first: arrow.to,
                last: arrow.to,
                arrows: Vec::new(),
            });
            bundle.first = bundle.first.min(arrow.from);
            bundle.last = bundle.last.max(arrow.from);
            bundle.arrows.push(nth);
        }
        let mut bundles: Vec<Bundle> = bundles.into_values().collect();
        bundles.sort_by_key(|bundle| (bundle.last - bundle.first, bundle.first));
        // By lane, the innermost first: the end of each taken stretch by its start.
        let mut taken: Vec<BTreeMap<usize, usize>> = Vec::new();
        let mut placed = Vec::new();
        for bundle in bundles {
            let is_free = |lane: &BTreeMap<usize, usize>| {
                lane.range(..=bundle.last).next_back().is_none_or(|(_, &end)| end < bundle.first)
            };
            let lane = match taken.iter().position(is_free) {
                Some(lane) => lane,
                None if taken.len() < max_lanes => {
                    taken.push(BTreeMap::new());
                    taken.len() - 1
                }
                None => continue,
            };
            taken[lane].insert(bundle.first, bundle.last);
            placed.push((lane, bundle));
        }
        let width = taken.len();
        let mut lanes = Lanes {
            width,
            cells: vec![0; rows * width],
            ends: vec![End::None; rows],
            is_drawn: vec![false; arrows.len()],
        };
        for (lane, bundle) in placed {
            let at = width - 1 - lane;
            for row in bundle.first..=bundle.last {
                let cell = &mut lanes.cells[row * width + at];
                *cell |= if row > bundle.first { UP } else { 0 } | if row < bundle.last { DOWN } else { 0 };
            }
            lanes.reach(bundle.target, at, End::Target);
            for nth in bundle.arrows {
                lanes.is_drawn[nth] = true;
                lanes.reach(arrows[nth].from, at, End::Source);
            }
        }
        lanes
    }

    /// Draws a line from a lane to the end of a row.
    fn reach(&mut self, row: usize, lane: usize, end: End) {
        let cells = &mut self.cells[row * self.width..(row + 1) * self.width];
        cells[lane] |= RIGHT;
        cells[lane + 1..].iter_mut().for_each(|cell| *cell |= LEFT | RIGHT);
        self.ends[row] = self.ends[row].max(end);
    }

    /// The count of lanes.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// The lines in each lane of a row, the outermost first, and what is at their end.
    pub(super) fn row(&self, row: usize) -> (&[u8], End) {
        match self.width {
            0 => (&[], End::None),
            width => (&self.cells[row * width..(row + 1) * width], self.ends[row]),
        }
    }

    /// The columns that a row takes as text: two for each lane, and two for the end.
    pub(super) fn columns(&self) -> usize {
        if self.width == 0 { 0 } else { 2 * self.width + 2 }
    }

    /// The lines that go on below a row, as text.
    pub(super) fn text_below(&self, row: usize, is_ascii: bool) -> String {
        let (cells, _) = self.row(row);
        let mut text = String::new();
        for &cell in cells {
            text.push(line(if cell & DOWN != 0 { UP | DOWN } else { 0 }, is_ascii));
            text.push(' ');
        }
        text + if cells.is_empty() { "" } else { "  " }
    }

    /// A row as text.
    pub(super) fn text(&self, row: usize, is_ascii: bool) -> String {
        let (cells, end) = self.row(row);
        let mut text = String::new();
        if cells.is_empty() {
            return text;
        }
        for &cell in cells {
            text.push(line(cell, is_ascii));
            text.push(match (cell & RIGHT != 0, is_ascii) {
                (true, true) => '-',
                (true, false) => '─',
                (false, _) => ' ',
            });
        }
        text.push(match (end, is_ascii) {
            (End::None, _) => ' ',
            (End::Source, true) => '-',
            (End::Source, false) => '─',
            (End::Target, true) => '>',
            (End::Target, false) => '▸',
        });
        text.push(' ');
        text
    }
}

/// The character with these lines.
fn line(cell: u8, is_ascii: bool) -> char {
    let (up, down) = (cell & UP != 0, cell & DOWN != 0);
    let (left, right) = (cell & LEFT != 0, cell & RIGHT != 0);
    if is_ascii {
        return match (up || down, left || right) {
            (true, true) => '+',
            (true, false) => '|',
            (false, true) => '-',
            (false, false) => ' ',
        };
    }
    match (up, down, left, right) {
        (true, true, true, true) => '┼',
        (true, true, true, false) => '┤',
        (true, true, false, true) => '├',
        (true, true, false, false) => '│',
        (true, false, true, true) => '┴',
        (true, false, false, true) => '╰',
        (true, false, true, false) => '╯',
        (true, false, false, false) => '╵',
        (false, true, true, true) => '┬',
        (false, true, false, true) => '╭',
        (false, true, true, false) => '╮',
        (false, true, false, false) => '╷',
        (false, false, false, false) => ' ',
        (false, false, _, _) => '─',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(rows: usize, arrows: &[(usize, usize)], max_lanes: usize, is_ascii: bool) -> Vec<String> {
        let arrows: Vec<Arrow> = arrows.iter().map(|&(from, to)| Arrow { from, to }).collect();
        let lanes = Lanes::new(rows, &arrows, max_lanes);
        (0..rows).map(|row| lanes.text(row, is_ascii).trim_end().to_owned()).collect()
    }

    #[test]
    fn shorter_arrows_are_inside() {
        assert_eq!(
            drawn(6, &[(4, 1), (5, 0), (2, 3)], 4, false),
            ["╭─────▸", "│ ╭───▸", "│ │ ╭──", "│ │ ╰─▸", "│ ╰────", "╰──────"]
        );
    }

    #[test]
    fn arrows_to_one_row_share_a_lane() {
        assert_eq!(drawn(4, &[(0, 3), (1, 3), (2, 3)], 4, false), ["╭──", "├──", "├──", "╰─▸"]);
        assert_eq!(drawn(4, &[(0, 3), (1, 3), (2, 3)], 4, true), ["+--", "+--", "+--", "+->"]);
        assert_eq!(drawn(3, &[(0, 1), (2, 1)], 4, false), ["╭──", "├─▸", "╰──"]);
    }

    #[test]
    fn lanes_are_used_again_and_end() {
        assert_eq!(drawn(4, &[(0, 1), (2, 3)], 1, false), ["╭──", "╰─▸", "╭──", "╰─▸"]);
        let arrows = [(0, 3), (1, 2)].map(|(from, to)| Arrow { from, to });
        let lanes = Lanes::new(4, &arrows, 1);
        assert_eq!(lanes.is_drawn, [false, true]);
        assert_eq!(lanes.text(0, false), "    ");
        let none = Lanes::new(3, &[Arrow { from: 1, to: 1 }], 4);
        assert_eq!(
            (none.columns(), none.text(1, false), &none.is_drawn[..]),
            (0, String::new(), &[false][..])
        );
    }

    #[test]
    fn crossings_are_drawn() {
        // The inner lane is passed by the line of the outer one.
        assert_eq!(drawn(4, &[(0, 2), (1, 3)], 4, false), ["  ╭──", "╭─┼──", "│ ╰─▸", "╰───▸"]);
        assert_eq!(drawn(4, &[(0, 2), (1, 3)], 4, true), ["  +--", "+-+--", "| +->", "+--->"]);
    }
}

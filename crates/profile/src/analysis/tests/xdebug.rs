//! The files of the corpus with one block per invocation, and their trees.

use std::collections::{BTreeMap, HashMap};

use gristmill_format::{Cost, CostRole, Header, Line, NameKey, Reader};

use super::corpus::{File, files};
use crate::FunctionId;
use crate::analysis::{ExactTree, Invocation, NotInvocations, TreeNodeId};

/// A block of a file.
#[derive(Debug, Default)]
struct Block {
    part: u32,
    function: usize,
    own: Vec<Cost>,
    calls: Vec<(FunctionId, Cost)>,
    call_costs: Vec<Cost>,
}

/// Returns the blocks of a file, and the count of event types. Functions are distinguished by name only.
fn blocks(bytes: &[u8]) -> (usize, Vec<Block>) {
    let mut names: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut number = |name: &[u8]| {
        let next = names.len();
        *names.entry(name.to_vec()).or_insert(next)
    };
    let (mut width, mut count) = (0, 0);
    let mut blocks: Vec<Block> = Vec::new();
    let mut reader = Reader::new(bytes);
    while let Some(record) = reader.next() {
        let Ok(record) = record else { continue };
        match record.line {
            Line::Name(NameKey::Fn, name) => {
                blocks.push(Block { part: record.part, function: number(name.bytes()), ..Block::default() });
            }
            Line::Header(Header::Events(words)) => width = width.max(words.iter().count()),
            Line::Calls(calls) => count = calls.count,
            Line::Cost(line) => {
                let Some(block) = blocks.last_mut() else { continue };
                let mut row = vec![0; width];
                let _ = line.costs.decode(&mut row);
                match line.role {
                    CostRole::SelfCost => {
                        block.own.resize(width, 0);
                        block.own.iter_mut().zip(&row).for_each(|(sum, cost)| *sum += cost);
                    }
                    CostRole::Call => {
                        let callee = reader.context().callee().map(|name| name.bytes()).unwrap_or_default();
                        block.calls.push((FunctionId::new(number(callee)), count));
                        block.call_costs.extend_from_slice(&row);
                    }
                    CostRole::JumpSource => {}
                }
            }
            _ => {}
        }
    }
    blocks.iter_mut().for_each(|block| block.own.resize(width, 0));
    (width, blocks)
}

fn tree(width: usize, blocks: &[Block]) -> Result<ExactTree, NotInvocations> {
    let mut tree = ExactTree::new(width);
    for (index, block) in blocks.iter().enumerate() {
        if index > 0 && blocks[index - 1].part != block.part {
            tree.end_part();
        }
        tree.push(Invocation {
            function: FunctionId::new(block.function),
            self_costs: &block.own,
            calls: &block.calls,
            call_costs: &block.call_costs,
        })?;
    }
    Ok(tree)
}

/// The stacks that a file contains, with their self costs: by recursion over the blocks, from the last one backwards.
fn naive_stacks(blocks: &[Block]) -> BTreeMap<Vec<usize>, Vec<Cost>> {
    fn take(
        blocks: &[Block],
        at: &mut usize,
        stack: &mut Vec<usize>,
        stacks: &mut BTreeMap<Vec<usize>, Vec<Cost>>,
    ) {
        *at -= 1;
        let block = &blocks[*at];
        stack.push(block.function);
        let sums = stacks.entry(stack.clone()).or_insert_with(|| vec![0; block.own.len()]);
        sums.iter_mut().zip(&block.own).for_each(|(sum, cost)| *sum += cost);
        for (callee, _) in block.calls.iter().rev() {
            assert_eq!(blocks[*at - 1].function, callee.index());
            take(blocks, at, stack, stacks);
        }
        stack.pop();
    }
    let mut stacks = BTreeMap::new();
    let mut at = blocks.len();
    while at > 0 {
        take(blocks, &mut at, &mut Vec::new(), &mut stacks);
    }
    stacks
}

/// Files that name Xdebug, but were written by people: their blocks do not follow each other as calls end.
const NO_TREE: [&str; 2] = ["xdebug3.txt", "sample_profiles_callgrind_callgrind.multiple-event-types.log"];

#[test]
fn trees_of_the_corpus() {
    let mut seen = Vec::new();
    for File { path: name, bytes, is_own } in files() {
        let (width, blocks) = blocks(&bytes);
        let is_xdebug = bytes.windows(6).take(4096).any(|word| word.eq_ignore_ascii_case(b"xdebug"));
        let Ok(tree) = tree(width, &blocks) else {
            let is_known = NO_TREE.iter().any(|known| name.ends_with(known));
            assert!(!is_xdebug || is_known, "{name}: no tree");
            continue;
        };
        if tree.call_count() == 0 {
            continue;
        }
        assert_eq!(tree.block_count(), blocks.len());
        let total = blocks.iter().fold(vec![0; width], |mut sum: Vec<Cost>, block| {
            sum.iter_mut().zip(&block.own).for_each(|(sum, cost)| *sum += cost);
            sum
        });
        let unequal = tree.unequal_call_count();
        let calls = tree.call_count();
        let tree = tree.finish();
        assert_eq!(tree.inclusive(TreeNodeId::ROOT), total, "{name}");

        // Costs prove which call took which block; the recursion below only knows blocks that follow each other.
        if NO_TREE.iter().any(|known| name.ends_with(known)) {
            continue;
        }
        let mut by_part: Vec<&[Block]> = blocks.chunk_by(|a, b| a.part == b.part).collect();
        let mut expected: BTreeMap<Vec<usize>, Vec<Cost>> = BTreeMap::new();
        while let Some(blocks) = by_part.pop() {
            for (stack, costs) in naive_stacks(blocks) {
                let sums = expected.entry(stack).or_insert_with(|| vec![0; width]);
                sums.iter_mut().zip(&costs).for_each(|(sum, cost)| *sum += cost);
            }
        }
        let mut found = BTreeMap::new();
        for node in tree.ids().skip(1) {
            let mut stack: Vec<usize> =
                tree.path_up(node).filter_map(|id| tree.node(id).item).map(FunctionId::index).collect();
            stack.reverse();
            found.insert(stack, tree.self_cost(node).to_vec());
        }
        assert_eq!(found, expected, "{name}");
        println!("{name}: {} blocks, {calls} calls, {unequal} of them unequal", blocks.len());
        if is_own {
            seen.push(name);
        }
    }
    for name in ["dialects/xdebug2.txt", "dialects/xdebug3-append.txt", "dialects/memprof.txt"] {
        assert!(seen.iter().any(|seen| seen == name), "{name} is not among {seen:?}");
    }
}

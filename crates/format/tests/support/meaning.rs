//! The content of a profile without its spelling: the list of facts by which two files are compared.

use gristmill_format::{Cost, CostRole, Costs, Line, Name, NameSpace, Reader};

/// A function with where it is from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Function {
    pub(crate) object: String,
    pub(crate) file: String,
    pub(crate) name: String,
}

/// One thing that a profile says.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fact {
    /// Self cost of a function at a place of its current file.
    Own { function: Function, positions: Vec<u64>, costs: Vec<Cost> },
    /// Calls from there.
    Call {
        caller: Function,
        positions: Vec<u64>,
        callee: Function,
        target: Vec<u64>,
        count: Cost,
        inclusive: Vec<Cost>,
    },
    /// A jump from there, with how often its condition was met and tested.
    Jump {
        function: Function,
        positions: Vec<u64>,
        file: String,
        target: Vec<u64>,
        taken: Cost,
        executed: Option<Cost>,
    },
}

/// All facts of a profile in the order of the file.
///
/// Fails on a file that the tolerant reader finds fault with.
pub(crate) fn meaning(file: &[u8]) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut reader = Reader::new(file);
    let mut announced = None;
    while let Some(record) = reader.next() {
        let line = record.expect("a file without faults").line;
        let cost_line = match line {
            Line::Calls(_) | Line::Jump(_) => {
                announced = Some(line);
                continue;
            }
            Line::Cost(cost_line) => cost_line,
            _ => continue,
        };
        let text = |space, name: Option<Name<'_>>| text_of(&reader, space, name);
        let context = reader.context();
        let function = Function {
            object: text(NameSpace::Object, context.object()),
            file: text(NameSpace::File, context.file()),
            name: text(NameSpace::Function, context.function()),
        };
        let positions = cost_line.positions.as_slice().to_vec();
        let costs = without_trailing_zeros(&cost_line.costs);
        facts.push(match (cost_line.role, announced.take()) {
            (CostRole::SelfCost, _) => Fact::Own { function, positions, costs },
            (CostRole::Call, Some(Line::Calls(calls))) => Fact::Call {
                caller: function,
                positions,
                callee: Function {
                    object: text(NameSpace::Object, context.callee_object()),
                    file: text(NameSpace::File, context.callee_file()),
                    name: text(NameSpace::Function, context.callee()),
                },
                target: calls.target.as_slice().to_vec(),
                count: calls.count,
                inclusive: costs,
            },
            (CostRole::JumpSource, Some(Line::Jump(jump))) => Fact::Jump {
                function,
                positions,
                file: text(NameSpace::File, context.jump_file()),
                target: jump.target.as_slice().to_vec(),
                taken: jump.taken,
                executed: jump.executed,
            },
            (role, line) => panic!("a line of the role {role:?} after {line:?}"),
        });
    }
    facts
}

fn text_of<'a>(reader: &Reader<'a>, space: NameSpace, name: Option<Name<'a>>) -> String {
    let Some(name) = name else { return String::new() };
    let expanded = reader.expand(space, &name);
    String::from_utf8_lossy(expanded.as_deref().unwrap_or(name.bytes())).into_owned()
}

/// Costs that are left out at the end of a line mean 0.
fn without_trailing_zeros(costs: &Costs<'_>) -> Vec<Cost> {
    let mut costs: Vec<Cost> = costs.iter().map(|cost| cost.expect("a cost")).collect();
    while costs.last() == Some(&0) {
        costs.pop();
    }
    costs
}

//! Crossings and lengths of arcs, compared with Graphviz. Without `dot` the test says so and ends; with `GRISTMILL_CI` it fails.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use super::*;

/// Arcs of a picture: their ends and points along them.
type Lines = Vec<(usize, usize, Vec<[f64; 2]>)>;

/// Returns the arcs as `dot` draws them, with the same sizes, gaps and weights. None without that program.
fn drawn_by_dot(drawing: &Drawing) -> Option<Lines> {
    let options = &drawing.options;
    let mut text = format!(
        "digraph {{ nodesep={}; ranksep={}; node [shape=box fixedsize=true label=\"\"]; edge [arrowhead=none];\n",
        options.node_gap / 72.0,
        options.layer_gap / 72.0
    );
    for (index, node) in drawing.nodes.iter().enumerate() {
        let (width, height) = (node.size.width / 72.0, node.size.height / 72.0);
        writeln!(text, "{index} [width={width} height={height}];").unwrap();
    }
    let heaviest = drawing.arcs.iter().fold(1e-9, |most: f64, arc| most.max(arc.weight));
    for drawn in &drawing.arcs {
        let weight = 1.0 + (15.0 * drawn.weight / heaviest).round();
        writeln!(text, "{} -> {} [weight={weight}];", drawn.from, drawn.to).unwrap();
    }
    text.push('}');
    let mut dot =
        Command::new("dot").arg("-Tplain").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
    dot.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = dot.wait_with_output().unwrap();
    assert!(output.status.success());
    let mut lines = Lines::new();
    // Long lines go on after a backslash.
    for line in String::from_utf8(output.stdout).unwrap().replace("\\\n", "").lines() {
        let mut words = line.split_ascii_whitespace();
        if words.next() != Some("edge") {
            continue;
        }
        let mut index = || words.next().unwrap().parse::<usize>().unwrap();
        let (from, to, count) = (index(), index(), index());
        let mut number = || words.next().unwrap().parse::<f64>().unwrap();
        let points: Vec<[f64; 2]> = (0..count).map(|_| [number() * 72.0, number() * 72.0]).collect();
        lines.push((from, to, samples(&points, 6)));
    }
    Some(lines)
}

fn drawn_by_us(drawing: &Drawing) -> Lines {
    let layout = check(drawing);
    drawing
        .arcs
        .iter()
        .zip(&layout.arcs)
        .map(|(arc, path)| (arc.from, arc.to, samples(&path.points, 6)))
        .collect()
}

fn length(lines: &Lines) -> f64 {
    let steps = lines.iter().flat_map(|(_, _, points)| points.windows(2));
    steps.map(|pair| (pair[1][0] - pair[0][0]).hypot(pair[1][1] - pair[0][1])).sum()
}

/// Counts crossings of arcs that have no end in common.
fn crossings(lines: &Lines) -> usize {
    let turn =
        |a: [f64; 2], b: [f64; 2], c: [f64; 2]| (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    let cross = |a: &[[f64; 2]], b: &[[f64; 2]]| {
        turn(a[0], a[1], b[0]) * turn(a[0], a[1], b[1]) < 0.0
            && turn(b[0], b[1], a[0]) * turn(b[0], b[1], a[1]) < 0.0
    };
    let mut count = 0;
    for (index, (from, to, a)) in lines.iter().enumerate() {
        for (other_from, other_to, b) in &lines[..index] {
            if from != other_from && from != other_to && to != other_from && to != other_to {
                count += a.windows(2).map(|a| b.windows(2).filter(|b| cross(a, b)).count()).sum::<usize>();
            }
        }
    }
    count
}

/// Returns the call graph of a profile of the corpus with uncompressed or compressed names, read line by line: a reader of
/// its own, since this test only needs names and inclusive costs of calls.
fn recorded(name: &str) -> Drawing {
    let path = format!("{}/../../corpus/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
    let mut names = std::collections::BTreeMap::new();
    let mut ids = std::collections::BTreeMap::new();
    let mut arcs = std::collections::BTreeMap::new();
    let (mut caller, mut callee, mut is_call) = (0, 0, false);
    for line in text.lines() {
        if let Some((key, value)) = line.split_once('=').filter(|(key, _)| *key == "fn" || *key == "cfn") {
            let (id, name) = value.split_once(' ').unwrap_or((value, ""));
            if !name.is_empty() {
                names.insert(id.to_owned(), name.to_owned());
            }
            let full = names.get(id).cloned().unwrap_or_else(|| value.to_owned());
            let next = ids.len();
            let index = *ids.entry(full).or_insert(next);
            if key == "fn" { caller = index } else { callee = index }
        } else if line.starts_with("calls=") {
            is_call = true;
        } else if is_call {
            is_call = false;
            let cost = line.split_ascii_whitespace().nth(1).and_then(|cost| cost.parse::<f64>().ok());
            *arcs.entry((caller, callee)).or_insert(0.0) += cost.unwrap_or(0.0);
        }
    }
    let mut drawing = Drawing { nodes: vec![node(0.0, None); ids.len()], ..Drawing::default() };
    for (name, &index) in &ids {
        drawing.nodes[index] = node(24.0 + 6.5 * name.chars().count().min(28) as f64, None);
    }
    drawing.arcs =
        arcs.into_iter().filter(|((a, b), _)| a != b).map(|((a, b), cost)| arc(a, b, cost)).collect();
    drawing
}

#[test]
fn crossings_and_lengths_are_near_those_of_dot() {
    let mut cases: Vec<(String, Drawing)> = Vec::new();
    for (seed, nodes, extra) in [(1, 20, 8), (2, 40, 15), (3, 60, 30), (4, 80, 40), (5, 80, 80), (6, 30, 40)]
    {
        cases.push((format!("generated {nodes}+{extra}"), program(seed, nodes, extra)));
    }
    for name in [
        "callgrind/callgrind.out.mill",
        "callgrind/callgrind.out.mill-dynamic",
        "callgrind/callgrind.out.recs",
        "callgrind/callgrind.out.full",
        "python/callgrind.out.pyprof2calltree",
        "python/callgrind.out.yappi",
    ] {
        cases.push((name.to_owned(), recorded(name)));
    }
    let (mut ours, mut theirs, mut ratios) = (0, 0, Vec::new());
    for (name, drawing) in cases {
        let Some(dot) = drawn_by_dot(&drawing) else {
            assert!(std::env::var_os("GRISTMILL_CI").is_none(), "dot is missing");
            println!("skipped: dot is missing");
            return;
        };
        let us = drawn_by_us(&drawing);
        let (our_count, dot_count) = (crossings(&us), crossings(&dot));
        let ratio = length(&us) / length(&dot);
        let (nodes, arcs) = (drawing.nodes.len(), drawing.arcs.len());
        println!(
            "{name}: {nodes} nodes, {arcs} arcs; crossings {our_count}, dot {dot_count}; length {ratio:.2} of dot"
        );
        ours += our_count;
        theirs += dot_count;
        ratios.push(ratio);
    }
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    println!("all: crossings {ours}, dot {theirs}; mean length {mean:.2} of dot");
    assert!(ours * 10 <= theirs * 13, "{ours} crossings, dot has {theirs}");
    assert!(mean <= 1.3, "arcs are {mean:.2} times as long as those of dot");
}

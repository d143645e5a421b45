#![cfg(test)]

mod algebra;
mod doubt;
mod event_types;
mod explanations;
mod in_place;
mod inlining;
mod joining;
mod many_runs;
mod rule_examples;

#![cfg(test)]

mod algebra;
mod explanations;
mod inlining;
mod joining;
mod many_runs;
mod rule_examples;

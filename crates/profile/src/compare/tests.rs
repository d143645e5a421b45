#![cfg(test)]

mod algebra;
mod explanations;
mod inlining;
mod joining;
mod rule_examples;

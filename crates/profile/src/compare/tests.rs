#![cfg(test)]

mod algebra;
mod explanations;
mod joining;
mod rule_examples;

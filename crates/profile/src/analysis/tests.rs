//! The analysis by hand arithmetic, against naive twins, and against call trees whose graph is known.
#![cfg(test)]

mod attribution;
mod bottom_up;
mod call_counts;
mod compared_tree;
pub(crate) mod corpus;
mod cycle;
mod graph;
mod inclusive;
mod large;
pub(crate) mod sample;
mod tree;
mod tree_arcs;
mod xdebug;

//! Comparisons of many runs.

use crate::Profile;
use crate::compare::{CompareError, CompareOptions, Comparison};

/// Makes runs of which each has functions of its own, and eight event types.
fn runs(side: char, count: usize) -> Vec<Profile> {
    let run = |index: usize| {
        Profile::from_bytes(format!(
            "events: A B C D E F G H\nfl={side}{index}.c\nfn={side}{index}\n1 1 2 3 4 5 6 7 8\n"
        ))
    };
    (0..count).map(run).collect()
}

/// Each run has a row for each function of all runs, so that the tables grow with the square of their count.
#[test]
fn runs_that_share_no_functions_ask_for_memory() {
    let compared = |count: usize| {
        let (base, new) = (runs('a', count), runs('b', count));
        let [base, new]: [Vec<&Profile>; 2] = [base.iter().collect(), new.iter().collect()];
        let options = CompareOptions::default();
        Comparison::new(&base, &new, &options).map(|comparison| comparison.functions().count())
    };
    assert_eq!(compared(20).unwrap(), 40);
    assert!(matches!(compared(400), Err(CompareError::TooManyCosts(_))));
}

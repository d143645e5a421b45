//! Contenders take turns, round by round, so that a disturbance of the machine hits all of them alike.

use std::time::Duration;

use crate::failure::Failure;

pub(super) struct Contender<'a, M = Duration> {
    pub(super) name: String,
    /// Does the work once. It takes its own time, so that setting up and cleaning up stay outside.
    pub(super) once: Box<dyn FnMut() -> Result<M, Failure> + 'a>,
}

pub(super) struct Measured<M = Duration> {
    pub(super) name: String,
    pub(super) best: M,
}

pub(super) fn measure<M: Ord>(
    mut contenders: Vec<Contender<'_, M>>,
    rounds: u32,
) -> Result<Vec<Measured<M>>, Failure> {
    let mut best: Vec<Option<M>> = contenders.iter().map(|_| None).collect();
    for _ in 0..rounds {
        for (contender, best) in contenders.iter_mut().zip(&mut best) {
            let measured = (contender.once)()?;
            if best.as_ref().is_none_or(|best| measured < *best) {
                *best = Some(measured);
            }
        }
    }
    let measured = contenders.into_iter().zip(best);
    Ok(measured
        .filter_map(|(contender, best)| Some(Measured { name: contender.name, best: best? }))
        .collect())
}

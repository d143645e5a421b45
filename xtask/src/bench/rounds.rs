//! Contenders take turns, round by round, so that a disturbance of the machine hits all of them alike.

use std::time::Duration;

use crate::failure::Failure;

pub(super) struct Contender<'a> {
    pub(super) name: &'static str,
    /// Does the work once. It takes its own time, so that setting up and cleaning up stay outside.
    pub(super) once: Box<dyn FnMut() -> Result<Duration, Failure> + 'a>,
}

pub(super) struct Measured {
    pub(super) name: &'static str,
    pub(super) best: Duration,
}

pub(super) fn measure(mut contenders: Vec<Contender<'_>>, rounds: u32) -> Result<Vec<Measured>, Failure> {
    let mut best = vec![Duration::MAX; contenders.len()];
    for _ in 0..rounds {
        for (contender, best) in contenders.iter_mut().zip(&mut best) {
            *best = (contender.once)()?.min(*best);
        }
    }
    Ok(contenders.iter().zip(best).map(|(contender, best)| Measured { name: contender.name, best }).collect())
}

//! A refresh that shows its stages and says how long each took.

use std::ops::ControlFlow;
use std::time::Instant;

use windlass::bootstrap::{Progress, StageTime, stage_times};

use crate::progress::Stages;

/// Runs a refresh. It gets the observer of its stages.
pub fn timed<T>(
    stages: &mut Stages,
    refresh: impl FnOnce(&mut (dyn FnMut(&Progress) -> ControlFlow<()> + Send)) -> windlass::Result<T>,
) -> windlass::Result<(T, Vec<StageTime>)> {
    let mut times = Vec::new();
    let refreshed = stages.follow("refresh", "refreshing", |show| {
        refresh(&mut |progress| {
            times.push((progress.clone(), Instant::now()));
            if !progress.stage.is_empty() {
                show(&progress.stage, progress.number, progress.count);
            }
            ControlFlow::Continue(())
        })
    })?;
    Ok((refreshed, stage_times(&times)))
}

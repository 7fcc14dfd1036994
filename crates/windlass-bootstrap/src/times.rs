//! The running time of each stage of a bootstrapping.

use std::time::Instant;

use super::progress::Progress;

/// What one stage took.
#[derive(Debug, Clone, PartialEq)]
pub struct StageTime {
    /// Its name.
    pub name: String,
    /// How often it came.
    pub times: usize,
    /// Seconds, of all times together.
    pub seconds: f64,
    /// Bits of capacity that it was first entered with, and that the stage which came for the first
    /// time after it was.
    pub capacity: (f64, f64),
}

/// The stages of one run in the order in which they came for the first time, from its reports and
/// when each was made.
pub fn stage_times(reports: &[(Progress, Instant)]) -> Vec<StageTime> {
    let mut stages: Vec<StageTime> = Vec::new();
    for pair in reports.windows(2) {
        let ((report, start), (next, end)) = (&pair[0], &pair[1]);
        let seconds = (*end - *start).as_secs_f64();
        if let Some(stage) = stages.iter_mut().find(|stage| stage.name == report.stage) {
            stage.times += 1;
            stage.seconds += seconds;
            continue;
        }
        if let Some(last) = stages.last_mut() {
            last.capacity.1 = report.capacity;
        }
        let capacity = (report.capacity, next.capacity);
        stages.push(StageTime { name: report.stage.clone(), times: 1, seconds, capacity });
    }
    if let (Some(last), Some((end, _))) = (stages.last_mut(), reports.last()) {
        last.capacity.1 = end.capacity;
    }
    stages
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn stages_that_come_again_are_added_up() {
        let start = Instant::now();
        let names = ["front end", "map", "digits", "map", "digits", "join", ""];
        let reports: Vec<(Progress, Instant)> = (0u64..)
            .zip(names)
            .map(|(i, name)| {
                let capacity = 100.0 - i as f64;
                let progress = Progress { stage: name.into(), number: i as usize, count: 6, round: 0, capacity };
                (progress, start + Duration::from_secs(i * i))
            })
            .collect();
        let stage = |name: &str, times, seconds, before, after| StageTime {
            name: name.into(),
            times,
            seconds,
            capacity: (before, after),
        };
        let wanted = [
            stage("front end", 1, 1.0, 100.0, 99.0),
            stage("map", 2, 3.0 + 7.0, 99.0, 98.0),
            stage("digits", 2, 5.0 + 9.0, 98.0, 95.0),
            stage("join", 1, 11.0, 95.0, 94.0),
        ];
        assert_eq!(stage_times(&reports), wanted);
        assert!(stage_times(&reports[..1]).is_empty() && stage_times(&[]).is_empty());
    }
}

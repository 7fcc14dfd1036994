//! The factors of Nesterov's steps.

/// What a step multiplies; its numbers are those of the module's formula.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Factors {
    /// Of `v_t` and `w_{t−2}` in `v_{t+1}`.
    pub next: [f64; 2],
    /// Of `v_t` and `w_{t−2}` in `w_{t−1}`.
    pub kept: [f64; 2],
    /// Of α/N times the gradient in `v_{t+1}`: 1 + μ_t.
    pub gradient: f64,
}

/// μ_1, …, μ_T, the last of them 0.
pub(super) fn momenta(steps: usize) -> Vec<f64> {
    let mut lambda = 1.0f64;
    let mut momenta: Vec<f64> = (0..steps)
        .map(|_| {
            let next = (1.0 + (1.0 + 4.0 * lambda * lambda).sqrt()) / 2.0;
            let momentum = (lambda - 1.0) / next;
            lambda = next;
            momentum
        })
        .collect();
    if let Some(last) = momenta.last_mut() {
        *last = 0.0;
    }
    momenta
}

/// The factors of each step.
pub(super) fn factors(steps: usize) -> Vec<Factors> {
    let momenta = momenta(steps);
    let before = std::iter::once(0.0).chain(momenta.iter().copied());
    let of = |(now, before): (&f64, f64)| {
        let kept = [1.0 / (1.0 + before), before / (1.0 + before)];
        Factors { next: [1.0 + now - now * kept[0], -now * kept[1]], kept, gradient: 1.0 + now }
    };
    momenta.iter().zip(before).map(of).collect()
}

/// How much errors of v and of w after each step, from none to all, are in v at the end, if no gradient
/// pulls them back.
pub(super) fn gains(factors: &[Factors]) -> Vec<[f64; 2]> {
    let mut all = vec![[1.0, 0.0]];
    for Factors { next, kept, .. } in factors.iter().rev() {
        let [v, w] = all[all.len() - 1];
        all.push([0, 1].map(|k| v * next[k] + w * kept[k]));
    }
    all.reverse();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The recurrence in v_t and w_{t−2} gives what the one in v_t and w_{t−1} does.
    #[test]
    fn both_forms_of_the_recurrence_agree() {
        let gradient = |v: f64| 0.3 * (1.0 - v);
        let (steps, mut textbook) = (30, [0.0, 0.0]);
        for momentum in momenta(steps) {
            let [v, old] = textbook;
            let w = v + gradient(v);
            textbook = [w + momentum * (w - old), w];
        }
        let mut state = [0.0, 0.0];
        for own in factors(steps) {
            let product = |[a, b]: [f64; 2]| a * state[0] + b * state[1];
            state = [product(own.next) + own.gradient * gradient(state[0]), product(own.kept)];
        }
        assert!((textbook[1] - state[0]).abs() < 1e-12, "{textbook:?}, {state:?}");
        assert_eq!(momenta(1), [0.0]);
        assert!(momenta(5)[..4].windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn errors_grow_with_the_steps_that_follow() {
        let all = gains(&factors(30));
        assert_eq!((all.len(), all[30]), (31, [1.0, 0.0]));
        // An error that begins as a constant stays one.
        assert!(all.iter().all(|[v, w]| (v + w - 1.0).abs() < 1e-12));
        assert!(all[1..30].iter().all(|[v, _]| (0.9..20.0).contains(v)));
    }
}

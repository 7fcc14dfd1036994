//! Bruun's stages, merged in every way.

use super::*;

/// Slots of degree 8, 2 and 4, each way merged as it comes and by a search.
const BRUUN: [(u64, u64, u32, usize, u32); 4] =
    [(64, 7, 1, 16, 6), (64, 3, 2, 18, 4), (128, 127, 1, 15, 6), (64, 31, 1, 16, 6)];

#[test]
fn bruun_on_the_mock() {
    for ((m, p, r, primes, weight), mode) in BRUUN.iter().flat_map(|&set| [(set, Mode::Thin), (set, Mode::Packed)]) {
        for partition in [Partition::Standard, Partition::LeastTime, Partition::MostCapacity, Partition::Single] {
            let transform = Transform::BRUUN;
            let spec =
                BootstrapSpec { mode, transform, partition, ephemeral_weight: weight, ..BootstrapSpec::default() };
            let plan = Arc::new(plan(params(m, primes), (p, r), spec).unwrap());
            let message = message(&plan, 5);
            let image = ClearBootstrapper::new(Arc::clone(&plan), 5).unwrap();
            let image = image.refresh(&Clear::new(plan.message_ring()).encrypt(&message).unwrap()).unwrap();
            assert_eq!(&image.plaintext(), &message, "{mode:?} m = {m}, p = {p}, {partition:?}");
        }
    }
}

#[test]
fn bruun_on_ciphertexts() {
    for ((m, p, r, primes, weight), mode) in BRUUN.iter().flat_map(|&set| [(set, Mode::Thin), (set, Mode::Packed)]) {
        let spec =
            BootstrapSpec { mode, transform: Transform::BRUUN, ephemeral_weight: weight, ..BootstrapSpec::default() };
        with_parameters(params(m, primes), (p, r), spec);
    }
}

/// All stages in one map: its automorphisms are as many as were counted.
#[test]
fn one_map_each_way_is_what_was_counted() {
    for ((m, p, r, primes, weight), transform) in [(BRUUN[2], Transform::BRUUN), (BRUUN[2], Transform::RADIX2)] {
        let of = |partition| {
            let spec = BootstrapSpec { transform, partition, ephemeral_weight: weight, ..BootstrapSpec::default() };
            plan(params(m, primes), (p, r), spec).unwrap()
        };
        let (single, merged) = (of(Partition::Single), of(Partition::Standard));
        let counted = merged.unfactored().unwrap();
        let maps = single.stages().iter().filter(|stage| stage.work.contains("automorphisms:"));
        let works: Vec<&str> = maps.map(|stage| stage.work.split(' ').next().unwrap()).collect();
        assert_eq!(works[0], counted[0].automorphisms.to_string(), "{}", single.explain());
        assert_eq!(works[1], counted[1].automorphisms.to_string(), "{}", single.explain());
        assert!(single.output_bits() >= merged.output_bits());
    }
}

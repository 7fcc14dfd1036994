//! Plans keep what they promise, and refuse what no layout holds.

use super::*;
use crate::shape::setting_of;

fn statistics(count: usize, longest: usize, fixed: bool) -> RowStatistics {
    RowStatistics { count, longest, fixed, total: (count * longest) as u64 }
}

#[test]
fn plans_keep_their_promises() {
    for (count, longest, fixed) in [
        (1, 1, true),
        (3, 0, false),
        (1 << 20, 1024, true),
        (1 << 22, 256, true),
        (1000, 20_000, false),
        (1 << 20, 100, false),
    ] {
        let rows = statistics(count, longest, fixed && longest > 0);
        for plan in [
            Plan::rows(rows, &TableRequirements::default()),
            Plan::keywords(rows, "5eed", 1.0, &TableRequirements::default()),
        ] {
            let plan = plan.unwrap();
            let (read, setting) = Schema::from_json(&plan.schema.to_json()).unwrap();
            assert_eq!(read, plan.schema);
            setting_of(&read.shape).unwrap();
            assert_eq!(read.shape.sizes(&setting), plan.sizes);
            println!("{count} x {longest}\n{}", plan.explain());
        }
    }
}

/// The remedy for a row that is too long is not to cut the table.
#[test]
fn rows_that_are_too_long_are_refused_with_what_helps() {
    for bits in [Some(64), Some(128), None] {
        let (keyed, most) = (bits.is_some(), longest_row(bits.map(|bits| bits as usize / 8)));
        let requirements = TableRequirements { tag_bits: bits, ..TableRequirements::default() };
        let plan = |longest| {
            let rows = statistics(1, longest, false);
            if keyed { Plan::keywords(rows, "5eed", 1.0, &requirements) } else { Plan::rows(rows, &requirements) }
        };
        assert!(plan(most).is_ok(), "{most} bytes fit");
        assert!(most > if keyed { 2_000_000 } else { 8_000_000 }, "{most}");
        let told = plan(most + 1).unwrap_err().to_string();
        assert!(told.contains(&format!("has at most {most} bytes")) && told.contains("split longer rows"), "{told}");
    }
    let told = Plan::rows(statistics(1 << 50, 8, true), &TableRequirements::default()).unwrap_err().to_string();
    assert!(told.contains("several tables"), "{told}");
}

/// One row of a megabyte makes every query for whole rows long, and not the first portion.
#[test]
fn plans_state_what_long_rows_cost_and_what_their_portions_cost() {
    let long = RowStatistics { count: 1000, longest: 1_000_000, fixed: false, total: 1_100_000 };
    let plan = Plan::keywords(long, "5eed", 1.0, &TableRequirements::default()).unwrap();
    assert!(plan.traffic[0] > 5_000_000 && plan.portion[0] < 100_000, "{:?} {:?}", plan.traffic, plan.portion);
    let text = plan.explain();
    assert!(text.contains("long rows") && text.contains("in portions"), "{text}");
    let short = Plan::keywords(statistics(1000, 100, false), "5eed", 1.0, &TableRequirements::default()).unwrap();
    assert_eq!(short.traffic, short.portion);
    assert!(!short.explain().contains("long rows"));
}

#[test]
fn plans_have_the_room_that_was_asked_for() {
    let rows = statistics(1000, 100, false);
    let requirements = |room| TableRequirements { room, ..TableRequirements::default() };
    for room in [1000, 3000, 100_000] {
        for plan in
            [Plan::rows(rows, &requirements(Some(room))), Plan::keywords(rows, "5eed", 1.0, &requirements(Some(room)))]
        {
            let schema = plan.unwrap().schema;
            assert!(schema.has_room(rows, room) && schema.has_room(rows, 0));
            assert!(!schema.has_room(rows, 100 * room));
        }
    }
}

#[test]
fn limits_of_sizes_are_kept_or_refused() {
    let rows = statistics(100_000, 2, true);
    let requirements = TableRequirements {
        keys: Some(681_000),
        query: Some(28_000),
        answer: Some(23_000),
        ..TableRequirements::default()
    };
    let plan = Plan::keywords(rows, "5eed", 1.0, &requirements).unwrap();
    println!("{}", plan.explain());
    assert!(plan.sizes.keys <= 681_000 && plan.traffic[0] <= 28_000 && plan.traffic[1] <= 23_000);
    let requirements = TableRequirements { keys: Some(1000), ..requirements };
    assert!(matches!(Plan::keywords(rows, "5eed", 1.0, &requirements), Err(Error::NoPlan { .. })));
    assert!(matches!(Plan::rows(statistics(0, 0, false), &requirements), Err(Error::Empty)));
}

/// Tags have 128 bits unless a plan says otherwise, and a hidden key has no other tag.
#[test]
fn bits_of_tags_are_chosen_and_others_are_refused() {
    let rows = statistics(1000, 10, true);
    let requirements = |tag_bits| TableRequirements { tag_bits, ..TableRequirements::default() };
    for (bits, bytes) in [(None, 16), (Some(64), 8), (Some(128), 16)] {
        let plan = Plan::keywords(rows, "5eed", 1.0, &requirements(bits)).unwrap();
        let Contents::Keywords(layout) = &plan.schema.contents else { panic!("rows by key") };
        assert_eq!(layout.tag_bytes, bytes, "{bits:?}");
        assert!(plan.explain().contains(&format!("tags of {} bits", 8 * bytes)), "{}", plan.explain());
    }
    for bits in [0, 8, 63, 256, u32::MAX] {
        let told = Plan::keywords(rows, "5eed", 1.0, &requirements(Some(bits))).unwrap_err().to_string();
        assert!(told.contains("the bits of a tag") && told.contains("64 or 128"), "{told}");
    }
    let told = Plan::hidden(rows, &[1; 32], "5eed", 1.0, &requirements(Some(64))).unwrap_err().to_string();
    assert!(told.contains("keys are hidden"), "{told}");
    assert!(Plan::hidden(rows, &[1; 32], "5eed", 1.0, &requirements(Some(128))).is_ok());
}

/// What the two kinds of tags cost: docs/design/0016 states these numbers.
#[test]
fn long_tags_cost_space_on_the_server_and_no_traffic() {
    for (count, longest) in [(200_001, 0), (100_000, 2), (1_000_000, 10), (1_000_000, 100), (1_000_000, 1000)] {
        let rows = statistics(count, longest, longest > 0);
        let plan = |bits| {
            Plan::keywords(
                rows,
                "5eed",
                1.0,
                &TableRequirements { tag_bits: Some(bits), ..TableRequirements::default() },
            )
            .unwrap()
        };
        let [short, long] = [64, 128].map(plan);
        println!(
            "{count} x {longest}: keys {} -> {}, query {} -> {}, answer {} -> {}, prepared {} -> {}, seconds {:.4} -> {:.4}",
            short.sizes.keys,
            long.sizes.keys,
            short.traffic[0],
            long.traffic[0],
            short.traffic[1],
            long.traffic[1],
            short.sizes.prepared,
            long.sizes.prepared,
            short.seconds.answer,
            long.seconds.answer
        );
        assert_eq!(short.traffic, long.traffic, "{count} x {longest}");
        assert!(short.sizes.prepared < long.sizes.prepared && long.sizes.prepared < 2 * short.sizes.prepared);
    }
}

fn hidden(count: usize, longest: usize, requirements: &TableRequirements) -> Result<Plan> {
    Plan::hidden(statistics(count, longest, false), &[1; 32], "5eed", 1.0, requirements)
}

/// Sealed rows are single entries, however long they are, and the refusal of longer ones says how long
/// they may be. The page states the same numbers.
#[test]
fn hidden_rows_are_whole_up_to_a_bin_and_longer_ones_are_refused_with_the_limit() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/how-to/lookup.md");
    let (page, mut unstated) = (std::fs::read_to_string(page).unwrap(), Vec::new());
    for (count, least) in [(1, 8000), (1000, 8000), (1_000_000, 5000)] {
        let told = hidden(count, 20_000, &TableRequirements::default()).unwrap_err().to_string();
        let (_, most) = told.split_once("it allows at most ").unwrap_or_else(|| panic!("{told}"));
        let most: usize = most.split_once(' ').unwrap().0.parse().unwrap();
        println!("{count} rows: {most} bytes");
        assert!(most > least, "{count}: {most}");
        let plan = hidden(count, most, &TableRequirements::default()).unwrap();
        assert_eq!((plan.schema.portions(), plan.schema.oprf.as_ref().unwrap().row_bytes), (1, most));
        assert_eq!(Schema::from_json(&plan.schema.to_json()).unwrap().0, plan.schema);
        assert!(!fits_hidden(statistics(count, 0, false), most + 1, None), "{count}: {most}");
        if !page.contains(&format!("{most} bytes")) {
            unstated.push((count, most));
        }
    }
    assert!(unstated.is_empty(), "docs/how-to/lookup.md does not state (rows, bytes) {unstated:?}");
    let told = hidden(1000, 100, &TableRequirements { keys: Some(1), ..TableRequirements::default() })
        .unwrap_err()
        .to_string();
    assert!(told.contains("allow larger keys"), "{told}");
    let told = hidden(1 << 50, 0, &TableRequirements::default()).unwrap_err().to_string();
    assert!(told.contains("several tables"), "{told}");
    assert_eq!(hidden(0, 0, &TableRequirements::default()).unwrap_err(), Error::Empty);
}

/// Room is counted in sealed rows, which are longer than those that are given.
#[test]
fn hidden_plans_have_the_room_that_was_asked_for() {
    for longest in [0, 5, 100, 1500, 3000, 5000] {
        let rows = statistics(500, longest, false);
        for room in [500, 3000, 20_000] {
            let schema = hidden(500, longest, &TableRequirements { room: Some(room), ..TableRequirements::default() })
                .unwrap()
                .schema;
            assert!(schema.has_room(rows, room), "{longest}");
            assert!(!schema.has_room(rows, 3 * room), "{longest}");
        }
    }
}

/// Rows of lengths that are not alike, long ones among them.
fn uneven(count: usize, longest: usize) -> Vec<(String, Vec<u8>)> {
    let bytes = |i: usize| (i * 7919 + 13) % 1009 * longest / 1009;
    (0..count).map(|i| (format!("key {i}"), vec![1; bytes(i)])).collect()
}

/// What looking for places says is what preparing the table comes to: bins that are too few overflow.
#[test]
fn places_are_found_where_a_table_is_made() {
    let mut overflowed = 0;
    for (count, longest) in [(40, 30_000), (60, 9000), (300, 3000), (500, 40)] {
        let rows = uneven(count, longest);
        let values: Vec<&[u8]> = rows.iter().map(|(_, row)| &row[..]).collect();
        let statistics = RowStatistics::of(&values).unwrap();
        for (seed, slack) in [("1", 1.0), ("2", 1.0), ("3", 0.8), ("4", 0.5), ("5", 1.5)] {
            let plan = Plan::keywords(statistics, seed, slack, &TableRequirements::default()).unwrap();
            let made = crate::Table::of_keywords(&plan, &rows, &crate::table::unobserved).map(drop);
            println!("{count} x {longest}, {slack}: {made:?}");
            assert_eq!(plan.find_places(&rows), made, "{count} rows of up to {longest} bytes, slack {slack}");
            overflowed += usize::from(matches!(made, Err(Error::Full { .. })));
        }
    }
    assert!(overflowed >= 3, "{overflowed}");
    // Hidden keys: other tags stand for theirs, and every row has the length of a sealed one.
    let rows = uneven(500, 3000);
    for (slack, fits) in [(1.2, true), (0.4, false)] {
        let plan =
            Plan::hidden(statistics(500, 3000, false), &[1; 32], "5eed", slack, &TableRequirements::default()).unwrap();
        assert_eq!(plan.find_places(&rows).is_ok(), fits, "{slack}: {:?}", plan.find_places(&rows));
    }
    let plan = Plan::keywords(statistics(3, 9, false), "5eed", 1.0, &TableRequirements::default()).unwrap();
    assert!(matches!(plan.find_places(&rows), Err(Error::Mismatch { .. })));
    let twice = [("a", "x"), ("a", "y"), ("b", "z")];
    assert!(matches!(plan.find_places(&twice), Err(Error::DuplicateKey { .. })));
}

//! More than there is room or time for.

use std::sync::atomic::{AtomicUsize, Ordering};

use windlass_service::client::Wanted;

use crate::common::{Running, refusal};

fn wanted(number: usize) -> Wanted {
    Wanted::Keys(vec![format!("key {number}").into_bytes()])
}

#[test]
fn keys_that_had_to_make_room_are_uploaded_again() {
    // Room for a few clients.
    let dir = tempfile::tempdir().unwrap();
    crate::common::keyed_table(&dir.path().join("table"), &crate::common::entries(6000, "row"));
    let service = Running::at(dir, "--key-cache 8");
    let mut askers: Vec<_> = (0..6).map(|_| service.asker()).collect();
    for round in 0..2 {
        for (number, asker) in askers.iter_mut().enumerate() {
            assert_eq!(asker.ask(&wanted(number)).unwrap(), [Some(format!("row {number}").into_bytes())], "{round}");
        }
    }
    assert!(askers.iter().all(|asker| asker.uploads == 2), "each by itself, when it is told: {}", service.stats());
    let cache = &service.stats()["cache"];
    let number = |name: &str| cache[name].as_u64().unwrap();
    assert!(number("evicted") >= 6 && number("bytes") <= 8 << 20 && number("sets") < 6, "{cache}");
    drop(service);
    let dir = tempfile::tempdir().unwrap();
    crate::common::keyed_table(&dir.path().join("table"), &crate::common::entries(6000, "row"));
    let refused = std::panic::catch_unwind(|| Running::at(dir, "--key-cache 1"));
    let message = *refused.err().expect("one MiB is too little").downcast::<String>().unwrap();
    assert!(message.contains("raise it (--key-cache, --client-keys)"), "{message}");
}

#[test]
fn a_full_queue_says_when_to_come_again() {
    let service = Running::small("--queue 2 --rows 8");
    let (refused, found) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut asker = service.asker();
                asker.upload().unwrap();
                let eight = Wanted::Keys((0..8).map(|k| format!("key {k}").into_bytes()).collect());
                let query = asker.query(&eight).unwrap();
                let name = asker.keys().0.to_owned();
                for _ in 0..3 {
                    let response = service.remote().ask(&name, &query, 1 << 24).unwrap();
                    if response.status == 200 {
                        found.fetch_add(1, Ordering::Relaxed);
                        assert_eq!(asker.rows(&eight, &response.body).unwrap()[7], Some(b"row 7".to_vec()));
                    } else {
                        refused.fetch_add(1, Ordering::Relaxed);
                        assert_eq!((response.status, response.problem().as_deref()), (503, Some("busy")));
                        assert!(response.retry_after.is_some_and(|seconds| seconds >= 1));
                    }
                }
            });
        }
    });
    assert!(refused.into_inner() > 0 && found.into_inner() > 0);
}

#[test]
fn answers_that_take_too_long_are_given_up() {
    // Sixteen selections take many times a millisecond.
    let service = Running::small("--answer-seconds 0.001");
    let mut asker = service.asker();
    asker.upload().unwrap();
    let eight = Wanted::Keys((0..8).map(|k| format!("key {k}").into_bytes()).collect());
    let error = asker.ask(&eight).unwrap_err();
    assert!(refusal(&error) == (504, "timeout"), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_log_that_is_full_or_read_by_nobody_holds_up_no_request() {
    let (_reader, nobody) = std::io::pipe().unwrap();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    for log in [std::process::Stdio::from(full), nobody.into()] {
        let dir = tempfile::tempdir().unwrap();
        crate::common::keyed_table(&dir.path().join("table"), &crate::common::entries(40, "row"));
        let service = Running::logging_to(log, dir, "");
        // More lines than a pipe holds.
        for _ in 0..1500 {
            assert_eq!(service.remote().get("/health").unwrap().status, 200);
        }
        let mut asker = service.asker();
        asker.upload().unwrap();
        assert_eq!(asker.ask(&wanted(1)).unwrap(), [Some(b"row 1".to_vec())]);
    }
}

#[test]
fn a_pass_that_panics_is_an_error_for_its_own_request_and_work_goes_on() {
    let service = Running::small("--drill-panic-every 2");
    let mut asker = service.asker();
    asker.upload().unwrap();
    for turn in 0..6 {
        let answer = asker.ask(&wanted(turn));
        if turn % 2 == 0 {
            assert_eq!(answer.unwrap(), [Some(format!("row {turn}").into_bytes())]);
        } else {
            let error = answer.unwrap_err();
            assert!(refusal(&error) == (500, "failed"), "{error}");
        }
    }
    assert_eq!(service.stats()["panics"], 3);
}

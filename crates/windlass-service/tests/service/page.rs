//! The page, in a browser without a screen.

use std::path::PathBuf;
use std::process::Command;

use windlass_service::client::Wanted;

use crate::common::{Running, text};

/// The first browser that is installed.
fn browser() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge"];
    let path = std::env::var_os("PATH")?;
    let places: Vec<PathBuf> = std::env::split_paths(&path).collect();
    names.iter().flat_map(|name| places.iter().map(move |place| place.join(name))).find(|file| file.is_file())
}

#[test]
fn the_page_shows_table_parameters_and_load() {
    let service = Running::small("");
    let page = text(&service.remote().get("/").unwrap().body);
    for foreign in ["src=", "href=\"http", "url(", "@import", "import("] {
        assert!(!page.contains(foreign), "nothing comes from elsewhere, but there is {foreign}");
    }
    let Some(browser) = browser() else {
        eprintln!("no chromium, chrome or edge on the PATH: the page was not looked at");
        return;
    };
    let mut asker = service.asker();
    for turn in 0..12 {
        asker.ask(&Wanted::Keys(vec![format!("key {turn}").into_bytes()])).unwrap();
    }
    std::thread::sleep(std::time::Duration::from_millis(1100));
    let profile = service.dir.path().join("profile");
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--dump-dom"])
        .args(["--virtual-time-budget=4000", "--window-size=1100,1000"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(&service.address)
        .output()
        .unwrap();
    let dom = text(&output.stdout);
    let within = |id: &str| -> String {
        let from = dom.find(&format!("id=\"{id}\"")).unwrap_or_else(|| panic!("{id} in {dom}"));
        let rest = &dom[from..];
        rest[rest.find('>').unwrap() + 1..rest.find("</").unwrap()].to_owned()
    };
    assert_eq!((within("state"), within("count")), ("running".into(), "40".into()), "{}", text(&output.stderr));
    assert!(within("security").parse::<u32>().unwrap() >= 128);
    assert!(within("rate").parse::<f64>().unwrap() > 0.0 && within("median").parse::<f64>().unwrap() > 0.0);
    let drawn = |class: &str| dom.matches(&format!("class=\"{class}\"")).count();
    assert!(drawn("half") == 1 && drawn("tail") == 1 && drawn("bar") >= 1 && drawn("grid") == 6);
    let line = dom.split("class=\"half\"").next().unwrap().rsplit("<path d=\"").next().unwrap();
    assert!(line.starts_with('M'), "the times of answers are drawn: {line}");
    assert!(dom.contains(service.stats()["table"]["schema"].as_str().unwrap().split_at(12).0));
}

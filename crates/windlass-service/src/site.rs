//! The page. With the folder of the npm package, visitors ask on it: the client runs in their browser, from
//! files that this service serves, so that nothing comes from elsewhere.

use std::collections::BTreeMap;
use std::path::Path;

use axum::http::HeaderMap;
use axum::response::Response;

use crate::start_error::StartError;
use crate::static_file::StaticFile;

/// The page, in one file.
const PAGE: &str = include_str!("page.html");
/// What stands in the page where the form goes.
const PLACE: &str = "<!-- form -->";
/// The form.
const FORM: &str = include_str!("form.html");
/// Its script.
const FORM_SCRIPT: (&str, &str) = ("form.js", include_str!("form.js"));

/// The files of the npm package that make a client of tables.
const CLIENT: [&str; 11] = [
    "bytes.js",
    "errors.js",
    "load.js",
    "lookup.js",
    "service.js",
    "storage.js",
    "table.js",
    "worker.js",
    "worker-thread.js",
    "pkg/lookup/windlass_wasm.js",
    "pkg/lookup/windlass_wasm_bg.wasm",
];

/// The version of the package that this build belongs to.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The page runs its own script and asks this service; nothing comes from elsewhere. The hash is that of the
/// script in the page.
pub const POLICY: &str = concat!(
    "default-src 'none'; style-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'; form-action 'none'; ",
    "frame-ancestors 'none'; script-src 'sha256-36k6eG1YOV3kAfiVrgT6QoBMPkRqtY65TH+3SoRXCGI='"
);
/// What the form needs beside it: scripts of this service, WebAssembly, and a worker.
const FORM_POLICY: &str = " 'self' 'wasm-unsafe-eval'; worker-src 'self'";

/// The page, and the files that it loads.
#[derive(Debug, Default)]
pub struct Site {
    files: BTreeMap<&'static str, StaticFile>,
}

fn type_of(name: &str) -> &'static str {
    if name.ends_with(".wasm") { "application/wasm" } else { "text/javascript; charset=utf-8" }
}

fn refused(path: &Path, reason: std::io::Error) -> StartError {
    StartError::Page { path: path.display().to_string(), reason }
}

fn read(path: &Path) -> Result<Vec<u8>, StartError> {
    std::fs::read(path).map_err(|error| refused(path, error))
}

/// Refuses a package of another version: its client may make keys and queries that this service does not
/// read.
fn check_version(folder: &Path) -> Result<(), StartError> {
    let path = folder.join("package.json");
    let package: serde_json::Value =
        serde_json::from_slice(&read(&path)?).map_err(|error| refused(&path, error.into()))?;
    let reason = match package.get("version").and_then(serde_json::Value::as_str) {
        Some(VERSION) => return Ok(()),
        Some(other) => format!("it has version {other}, and this program version {VERSION}"),
        None => format!("it states no version, and this program has version {VERSION}"),
    };
    Err(refused(&path, std::io::Error::other(reason)))
}

impl Site {
    /// A page with a form, whose client is in the folder of the built npm package.
    ///
    /// # Errors
    /// [`StartError::Page`] for a file that cannot be read, and for a client of another version.
    pub fn open(folder: &Path) -> Result<Self, StartError> {
        check_version(folder)?;
        let script = StaticFile::new(type_of(FORM_SCRIPT.0), FORM_SCRIPT.1);
        let mut files = BTreeMap::from([(FORM_SCRIPT.0, script)]);
        for name in CLIENT {
            files.insert(name, StaticFile::new(type_of(name), read(&folder.join(name))?));
        }
        Ok(Self { files })
    }

    /// Whether visitors ask on the page.
    fn asks(&self) -> bool {
        !self.files.is_empty()
    }

    /// The page.
    pub fn page(&self) -> String {
        PAGE.replace(PLACE, if self.asks() { FORM } else { "" })
    }

    /// What a browser may load for the page.
    pub fn policy(&self) -> String {
        format!("{POLICY}{}", if self.asks() { FORM_POLICY } else { "" })
    }

    /// The answer to a request for a file, if there is one of that name.
    pub fn answer(&self, name: &str, headers: &HeaderMap) -> Option<Response> {
        self.files.get(name).map(|file| file.answer(headers))
    }
}

#[cfg(test)]
mod tests {
    use axum::http::header;
    use windlass::wire::sha256;

    use super::*;

    fn base64(bytes: &[u8]) -> String {
        let digits: Vec<char> = ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(['+', '/']).collect();
        let of = |chunk: &[u8]| {
            let word = (0..3).fold(0, |word, k| word << 8 | usize::from(chunk.get(k).copied().unwrap_or(0)));
            (0..4).map(|k| if k > chunk.len() { '=' } else { digits[word >> (18 - 6 * k) & 63] }).collect::<String>()
        };
        bytes.chunks(3).map(of).collect()
    }

    #[test]
    fn the_policy_has_the_hash_of_the_script_in_the_page() {
        assert_eq!(["", "a", "ab", "abc"].map(|text| base64(text.as_bytes())), ["", "YQ==", "YWI=", "YWJj"]);
        let script = PAGE.split_once("<script>").unwrap().1.split_once("</script>").unwrap().0;
        assert_eq!(PAGE.matches("<script").count(), 1);
        let hash = base64(&sha256(script.as_bytes()));
        assert!(POLICY.contains(&format!("'sha256-{hash}'")), "write {hash} into POLICY");
    }

    #[test]
    fn a_page_has_a_form_only_with_the_files_of_its_client() {
        let plain = Site::default();
        assert!(!plain.page().contains("<form") && !plain.page().contains(PLACE));
        assert!(
            !plain.policy().contains("'self' 'wasm-unsafe-eval'")
                && plain.answer("lookup.js", &HeaderMap::new()).is_none()
        );

        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("pkg/lookup")).unwrap();
        package(dir.path(), &format!(r#"{{"version": "{VERSION}"}}"#));
        let refused = Site::open(dir.path()).unwrap_err().to_string();
        assert!(refused.contains("bytes.js") && refused.contains("make wasm"), "{refused}");
        CLIENT.iter().for_each(|name| std::fs::write(dir.path().join(name), name).unwrap());
        let site = Site::open(dir.path()).unwrap();
        assert!(site.page().contains("<form") && site.policy().contains("'wasm-unsafe-eval'; worker-src 'self'"));
        let answer = |name| site.answer(name, &HeaderMap::new());
        for (name, kind) in
            [("pkg/lookup/windlass_wasm_bg.wasm", "application/wasm"), ("form.js", "text/javascript; charset=utf-8")]
        {
            assert_eq!(answer(name).unwrap().headers()[header::CONTENT_TYPE], kind);
        }
        for other in ["package.json", "index.js", "../Cargo.toml", "", "pkg/lookup"] {
            assert!(answer(other).is_none(), "{other}");
        }
    }

    fn package(folder: &Path, text: &str) {
        std::fs::write(folder.join("package.json"), text).unwrap();
    }

    #[test]
    fn a_client_of_another_version_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let refused = || Site::open(dir.path()).unwrap_err().to_string();
        assert!(refused().contains("package.json"), "{}", refused());
        package(dir.path(), r#"{"version": "0.0.1"}"#);
        let said = refused();
        for part in ["package.json: ", "it has version 0.0.1", VERSION, "--page"] {
            assert!(said.contains(part), "{said}");
        }
        package(dir.path(), r#"{"version": 2}"#);
        assert!(refused().contains("states no version"), "{}", refused());
        package(dir.path(), "{");
        assert!(refused().contains("EOF"), "{}", refused());
    }

    /// `npm` and Cargo release the two together.
    #[test]
    fn the_package_of_this_tree_has_the_version_of_this_build() {
        let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../js");
        check_version(&tree).unwrap();
    }
}

//! Coverage-guided fuzzing of everything that reads bytes, by libFuzzer on stable Rust.
//!
//! `WINDLASS_FUZZ` names the target ([`TARGETS`]); all else are options of libFuzzer and places of
//! inputs. `tools/fuzz/run` builds the program with counters of coverage and runs the targets one
//! after another. With `WINDLASS_FUZZ_SEEDS` set to a directory, inputs to begin with are written
//! there, and nothing runs.
//!
//! A target reads its input as a program does that gets it from a stranger. What is refused must be
//! refused by an error that says something, and what is read must be sound ([`sound`]), be written
//! in the same bytes again, and be of use without a panic. No input may hold more memory at one
//! time than its length and its target allow ([`memory`]), and every input that a target begins
//! with must be accepted.
#![no_main]

mod approximate;
mod bootstrapping;
mod command;
mod containers;
mod exact;
mod memory;
mod parties;
mod prepared;
mod random;
mod sealed;
mod search;
mod sound;
mod state;
mod tables;
mod target;
mod text;

use std::sync::OnceLock;

use target::Target;

type Made = fn() -> Target;

/// Every target: its name, and what makes it.
const TARGETS: &[(&str, Made)] = &[
    ("secret_key", exact::secret_keys),
    ("sealed_secret", sealed::secret_keys),
    ("public_key", exact::public_keys),
    ("evaluation_keys", exact::evaluation_keys),
    ("ready_keys", exact::ready_keys),
    ("ciphertext", exact::ciphertexts),
    ("ciphertext_list", exact::lists),
    ("lookup_query", exact::queries),
    ("lookup_answer", exact::answers),
    ("prepared_constants", prepared::exact),
    ("ckks_prepared_constants", prepared::approximate),
    ("ckks_ciphertext", approximate::ciphertexts),
    ("ckks_ciphertext_list", approximate::lists),
    ("ckks_encrypted_rows", approximate::encrypted_rows),
    ("ckks_encrypted_scores", approximate::encrypted_scores),
    ("ckks_secret_key", approximate::secret_keys),
    ("ckks_evaluation_keys", approximate::evaluation_keys),
    ("bootstrapping_keys", bootstrapping::keys),
    ("refresh_keys", bootstrapping::refresh_keys),
    ("table_query", tables::queries),
    ("table_answer", tables::answers),
    ("table_part", tables::parts),
    ("table_schema", tables::schemas),
    ("table_manifest", tables::manifests),
    ("table_segment", tables::segments),
    ("table_oprf_key", tables::oprf_keys),
    ("table_points", tables::points),
    ("table_blind_request", tables::blind_requests),
    ("table_blind_reply", tables::blind_replies),
    ("search_query", search::queries),
    ("search_answer", search::answers),
    ("party_message", parties::messages),
    ("party_state", parties::states),
    ("party_agreement", parties::agreements),
    ("party_identity", parties::identities),
    ("parameters", text::parameters),
    ("ckks_parameters", text::ckks_parameters),
    ("ckks_refresh_parameters", text::refresh_parameters),
    ("passes_parameters", text::passes_parameters),
    ("command_csv", command::tables),
    ("command_vectors", command::vectors),
    ("command_model", command::models),
    ("command_lookup_schema", command::lookup_schemas),
    ("command_score_schema", command::score_schemas),
    ("command_search_schema", command::search_schemas),
    ("command_table_set", command::changes),
    ("command_parameters", command::parameters),
    ("command_passphrase", command::passphrases),
    ("state_secret_key", state::secret_keys),
    ("state_evaluation_keys", state::evaluation_keys),
    ("state_table", state::tables),
];

/// The target of this process.
static TARGET: OnceLock<Target> = OnceLock::new();

fn target() -> &'static Target {
    TARGET.get_or_init(|| {
        // One thread, this one: what is found does not depend on who was faster.
        rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global().expect("no pool yet");
        let wanted = std::env::var("WINDLASS_FUZZ").unwrap_or_default();
        let Some((_, make)) = TARGETS.iter().find(|(name, _)| *name == wanted) else {
            let names: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
            eprintln!("set WINDLASS_FUZZ to one of these:\n{}", names.join("\n"));
            std::process::exit(2);
        };
        let target = make();
        target.check_seeds();
        target
    })
}

/// Writes the inputs that the target begins with, if that is all that is wanted.
fn write_seeds() {
    let target = target();
    let Some(directory) = std::env::var_os("WINDLASS_FUZZ_SEEDS").map(std::path::PathBuf::from) else { return };
    std::fs::create_dir_all(&directory).expect("a directory for inputs");
    for (number, seed) in target.seeds.iter().enumerate() {
        std::fs::write(directory.join(format!("seed-{number:02}")), seed).expect("an input is written");
    }
    std::process::exit(0);
}

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    target().mutate(data, size, max_size, seed)
});

libfuzzer_sys::fuzz_target!(
    init: write_seeds(),
    |data: &[u8]| {
        target().run(data);
    }
);

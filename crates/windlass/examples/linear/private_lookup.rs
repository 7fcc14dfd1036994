//! A private lookup over several ciphertexts: the query is longer than one, and the server never
//! learns which entry was read.

use windlass::circuits::{LinearGrid, LinearPlan, PlanSpec};
use windlass::{Client, Result};

pub fn run(client: &Client) -> Result<()> {
    let count = client.context().slots();
    // More records than slots: one word each for 3 fields, as the columns of a 3 × records matrix.
    let records = 2 * count + 100;
    let field = |i: usize, record: usize| ((record * (2 * i + 3) + 11 * i) % 65_536) as u64;
    // The server may thin its table out: here every 401st record exists.
    let present: Vec<usize> = (0..records).step_by(401).collect();
    let entries = present.iter().flat_map(|&record| (0..3).map(move |i| (i, record, field(i, record))));
    let table = LinearGrid::from_sparse(client.context(), 3, records, entries)?;
    let plan = LinearPlan::for_grid(&table, &PlanSpec::default())?;
    println!("private lookup: {} query ciphertexts, {}", table.columns(), plan.count());

    let server = client.generate_server([&plan])?;
    let constants = plan.prepare(server.engine())?;
    let wanted = present[present.len() - 2];
    let query: Vec<_> = (0..table.columns())
        .map(|part| client.encrypt(&(0..count).map(|i| u64::from(part * count + i == wanted)).collect::<Vec<_>>()))
        .collect::<Result<_>>()?;
    let answer = client.decrypt(&plan.apply_grid(&constants, server.engine(), &query)?[0])?;
    assert!((0..3).all(|i| answer[i] == field(i, wanted)));
    Ok(())
}

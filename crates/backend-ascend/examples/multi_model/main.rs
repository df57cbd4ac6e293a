//! Three models on one card, all memory from one pool.
//!
//! ```text
//! cargo xtask demo-ascend                          # the models of this folder, on the simulated card
//! cargo xtask demo-ascend a.om b.om c.om           # models of yours, on a card, by the same code
//! ```
//!
//! The models run one after another, so they share one workspace of the largest size. Buffers have the sizes that the models
//! say and lie on the card. Each result is copied back and compared with that of the same model in memory which ACL allocated.
#![expect(clippy::print_stderr, reason = "a program for people, who look there for why it could not run")]

#[path = "../hardware_test/output.rs"]
mod output;
mod pooled_model;

use std::error::Error;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use backend_ascend::acl::{Context, Model, ModelSizes};
use backend_ascend::{AscendBackend, AscendOptions, OpenError};
use mempool_core::{Bytes, Device, Pool, PoolConfig};

use output::say;
use pooled_model::{PooledModel, Workspace, input_patterns, run_in_memory_of_acl};

/// Something is wrong with what was found.
const FOUND: u8 = 1;
/// It could not be run.
const COULD_NOT_RUN: u8 = 2;

/// How often each model runs, in turn with the others.
const ROUNDS: u8 = 3;

fn main() -> ExitCode {
    let answer = arguments(std::env::args_os().skip(1)).and_then(|(device, models)| run(device, &models));
    match answer {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(FOUND),
        Err(error) => {
            eprintln!("multi_model: {}", with_sources(&*error));
            ExitCode::from(COULD_NOT_RUN)
        }
    }
}

/// The number of the card, and the models.
fn arguments(mut arguments: impl Iterator<Item = OsString>) -> Result<(i32, Vec<PathBuf>), Box<dyn Error>> {
    let (mut device, mut models) = (0, Vec::new());
    while let Some(argument) = arguments.next() {
        if argument == "--device" {
            let number = arguments.next().unwrap_or_default();
            let number = number.to_string_lossy();
            device = number
                .parse()
                .map_err(|_| format!("--device is {number:?}; give the number of a card, such as 0"))?;
        } else {
            models.push(PathBuf::from(argument));
        }
    }
    if models.is_empty() {
        return Err(
            "no model was named; usage: multi_model [--device N] MODEL... (three make the demonstration)"
                .into(),
        );
    }
    Ok((device, models))
}

/// An error with all that is behind it.
fn with_sources(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    text
}

/// Loads, runs and releases; false when a result was wrong or something was left.
fn run(device: i32, paths: &[PathBuf]) -> Result<bool, Box<dyn Error>> {
    let card = Arc::new(open(device)?);
    let context = card.context().clone();
    let info = card.memory_info()?;
    say(format_args!("card         {}, {} of {} free", card.properties().name, info.free, info.total));

    let needs = paths.iter().map(|path| Ok((path.as_path(), of_model(path, Model::sizes(&context, path))?)));
    let needs = needs.collect::<Result<Vec<_>, Box<dyn Error>>>()?;
    // What a right answer is, found before the pool takes anything: each model once, in memory of ACL.
    let expected = needs
        .iter()
        .map(|(path, _)| of_model(path, run_in_memory_of_acl(&context, path)))
        .collect::<Result<Vec<_>, Box<dyn Error>>>()?;

    let config = PoolConfig::builder().name("three models").arena_size(Bytes::mib(32)).build()?;
    let pool = Pool::new(Arc::clone(&card) as Arc<dyn Device>, config)?;
    print_status("before", &pool);

    let mut models = load(&pool, &context, &needs)?;
    print_status("loaded", &pool);

    let mut right = true;
    for round in 1..=ROUNDS {
        for (model, expected) in models.iter_mut().zip(&expected) {
            let inputs = input_patterns(model.input_sizes());
            let outputs = model.run(&inputs)?;
            let same = outputs == *expected;
            right &= same;
            let bytes = |buffers: &[Vec<u8>]| buffers.iter().map(Vec::len).sum::<usize>();
            let verdict = if same { "as in memory of ACL" } else { "NOT as in memory of ACL" };
            say(format_args!(
                "run {round}        {:<12} {:>9} bytes in, {:>9} out, {verdict}",
                model.name(),
                bytes(&inputs),
                bytes(&outputs)
            ));
        }
    }
    print_status("after runs", &pool);

    // The last loaded first; each model is unloaded before its memory goes back.
    while let Some(model) = models.pop() {
        say(format_args!("unload       {}", model.name()));
        drop(model);
    }
    print_status("unloaded", &pool);
    let trimmed = pool.trim()?;
    say(format_args!("trim         {trimmed} went back to the card"));
    print_status("after", &pool);

    drop(pool);
    let (held, left) = (card.holdings(), card.memory_info()?);
    let errors = context.device().runtime().take_release_errors();
    let clean = held.arenas == 0 && errors.failed == 0 && errors.leaked == 0;
    let verdict = if clean { "everything was released in order" } else { "SOMETHING WAS LEFT" };
    say(format_args!("card         {} of {} free; {verdict}", left.free, left.total));
    Ok(right && clean)
}

fn open(device: i32) -> Result<AscendBackend, Box<dyn Error>> {
    AscendBackend::open(device, AscendOptions::default()).map_err(|error| match error {
        OpenError::NoLibrary { .. } => {
            "there is no Ascend card here, as no ACL library was found; on an Ascend machine source CANN's set_env.sh first, \
             elsewhere use the simulated card: cargo xtask demo-ascend"
                .into()
        }
        other => other.into(),
    })
}

/// Loads all models into blocks of the pool, with one workspace for all.
fn load<'a>(
    pool: &Pool,
    context: &Context,
    needs: &[(&'a Path, ModelSizes)],
) -> Result<Vec<PooledModel>, Box<dyn Error>> {
    let largest = needs.iter().map(|(_, sizes)| sizes.work).max().unwrap_or(0);
    let sum: usize = needs.iter().map(|(_, sizes)| sizes.work).sum();
    say(format_args!(
        "workspace    {} for all models, which run one after another; one each would be {}",
        size(largest),
        size(sum)
    ));
    let workspace = Workspace::new(pool, largest)?;
    let load = |&(path, sizes): &(&'a Path, ModelSizes)| {
        let model = of_model(path, PooledModel::load(pool, context, path, sizes, &workspace))?;
        say(format_args!(
            "load         {:<12} weights {:>10}, work {:>10}, {} inputs, {} outputs",
            model.name(),
            size(sizes.weights),
            size(sizes.work),
            model.input_sizes().len(),
            model.output_count()
        ));
        Ok(model)
    };
    needs.iter().map(load).collect()
}

/// Says which model an error is about.
fn of_model<T, E: Into<Box<dyn Error>>>(path: &Path, answer: Result<T, E>) -> Result<T, Box<dyn Error>> {
    answer.map_err(|error| format!("model {}: {}", path.display(), with_sources(&*error.into())).into())
}

fn size(bytes: usize) -> String {
    Bytes::new(bytes as u64).to_string()
}

fn print_status(when: &str, pool: &Pool) {
    let status = pool.status();
    say(format_args!(
        "pool         {when:<12} {:>10} in {} arenas, {:>10} in {} blocks",
        status.total.to_string(),
        status.arenas,
        status.used.to_string(),
        status.blocks
    ));
}

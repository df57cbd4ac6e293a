//! `cargo xtask mutants`: breaks the most dangerous lines of the pool one by one and asks whether a test notices.
//!
//! The sources are copied below the target directory, and only the copy is broken. A mutant is *caught* when the suite that its row
//! names fails, or runs into the time limit; each suite is run on the unbroken copy first, so that a failure means something.

mod suite;
mod table;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::Context as _;

use crate::output::say;
use crate::tidy::workspace;
use suite::{Built, Ran, Suite};
use table::{MUTANTS, Mutant};

/// What to do.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct MutantOptions {
    /// Numbers of the mutants to try; empty means all.
    pub(crate) only: Vec<usize>,
    /// Print the table and try nothing.
    pub(crate) list: bool,
}

/// What became of a mutant.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    /// A test failed: the first one.
    Caught(String),
    Survived,
    DoesNotBuild,
    /// The text occurs so many times, not once.
    TextFound(usize),
}

impl Outcome {
    fn words(&self) -> String {
        match self {
            Self::Caught(_) => "caught".to_owned(),
            Self::Survived => "SURVIVED".to_owned(),
            Self::DoesNotBuild => "DOES NOT BUILD".to_owned(),
            Self::TextFound(0) => "TEXT NOT FOUND".to_owned(),
            Self::TextFound(times) => format!("TEXT FOUND {times} TIMES"),
        }
    }
}

/// Tries the mutants; false when one of them was not caught.
///
/// # Errors
///
/// When the copy cannot be made, cargo cannot be started, or a suite fails without any mutant.
pub(crate) fn run(root: &Path, options: &MutantOptions) -> anyhow::Result<bool> {
    let chosen = choose(&options.only)?;
    if options.list {
        for (number, mutant) in chosen {
            say(format_args!("{number:>3}  {}  ({}, {})", mutant.danger, mutant.file, mutant.suite));
        }
        return Ok(true);
    }
    let folder = workspace::target_directory(root)?.join("mutants");
    // Built in a folder of its own: cargo cannot tell the copy's crates from the ones that are copied.
    let (copy, target) = (folder.join("tree"), folder.join("build"));
    copy_sources(root, &copy)?;
    say(format_args!("mutants: {} to try, in {}", chosen.len(), copy.display()));
    let start = Instant::now();
    let mut suites: Vec<Suite> = chosen.iter().map(|(_, mutant)| mutant.suite).collect();
    suites.sort_unstable();
    suites.dedup();
    for suite in suites {
        check_unbroken(&copy, &target, suite)?;
    }
    let mut missed = 0;
    for &(number, mutant) in &chosen {
        let start = Instant::now();
        let outcome = try_one(&copy, &target, mutant)?;
        let seconds = start.elapsed().as_secs_f64();
        let words = outcome.words();
        say(format_args!("{number:>3}  {words:<9} {seconds:>6.1} s  {}", mutant.danger));
        if let Outcome::Caught(test) = outcome {
            say(format_args!("{:>22} by {test}", ""));
        } else {
            missed += 1;
            say(format_args!("{:>22} {}: {:?} -> {:?}", "", mutant.file, mutant.text, mutant.replacement));
        }
    }
    let (caught, seconds) = (chosen.len() - missed, start.elapsed().as_secs_f64());
    say(format_args!("mutants: {caught} of {} caught, in {seconds:.0} s", chosen.len()));
    Ok(missed == 0)
}

/// The mutants of these numbers, which count from 1.
fn choose(only: &[usize]) -> anyhow::Result<Vec<(usize, &'static Mutant)>> {
    let all = || (1..).zip(MUTANTS);
    if only.is_empty() {
        return Ok(all().collect());
    }
    let one = |&wanted: &usize| {
        all()
            .find(|&(number, _)| number == wanted)
            .with_context(|| format!("there is no mutant {wanted}; they are numbered 1 to {}", MUTANTS.len()))
    };
    only.iter().map(one).collect()
}

/// Copies what git knows of, or would take. A file that is there with the same contents is left, so that little is built again.
fn copy_sources(root: &Path, copy: &Path) -> anyhow::Result<()> {
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"])
        .current_dir(root)
        .output()
        .context("`git ls-files` could not be started; is git on the PATH?")?;
    anyhow::ensure!(listed.status.success(), "`git ls-files` failed in {}", root.display());
    let listed = String::from_utf8(listed.stdout).context("git names a file that is no UTF-8")?;
    for name in listed.split_terminator('\0') {
        let (from, to) = (root.join(name), copy.join(name));
        // A file that was deleted and not committed yet is listed, too.
        let Ok(contents) = fs::read(&from) else { continue };
        if fs::read(&to).is_ok_and(|there| there == contents) {
            continue;
        }
        let folder = to.parent().unwrap_or(copy);
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        fs::write(&to, contents).with_context(|| format!("cannot write {}", to.display()))?;
    }
    Ok(())
}

fn check_unbroken(copy: &Path, target: &Path, suite: Suite) -> anyhow::Result<()> {
    let Built::Program(program) = suite.build(copy, target)? else {
        anyhow::bail!("{suite} does not build without any mutant");
    };
    match suite.run(copy, target, &program)? {
        Ran::Passed => Ok(()),
        Ran::Failed(test) => {
            anyhow::bail!("{suite} fails without any mutant, in {test}: nothing can be said of mutants")
        }
    }
}

/// Breaks the copy, asks the suite, and mends the copy.
fn try_one(copy: &Path, target: &Path, mutant: &Mutant) -> anyhow::Result<Outcome> {
    let path: PathBuf = copy.join(mutant.file);
    let sound = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let times = sound.matches(mutant.text).count();
    if times != 1 {
        return Ok(Outcome::TextFound(times));
    }
    let write =
        |text: &str| fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()));
    write(&sound.replacen(mutant.text, mutant.replacement, 1))?;
    let outcome = ask(copy, target, mutant.suite);
    write(&sound)?;
    outcome
}

fn ask(copy: &Path, target: &Path, suite: Suite) -> anyhow::Result<Outcome> {
    Ok(match suite.build(copy, target)? {
        Built::Errors => Outcome::DoesNotBuild,
        Built::Program(program) => match suite.run(copy, target, &program)? {
            Ran::Passed => Outcome::Survived,
            Ran::Failed(test) => Outcome::Caught(test),
        },
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_text_of_every_mutant_occurs_once_in_its_file() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace");
        for (number, mutant) in choose(&[]).expect("all exist") {
            let source = fs::read_to_string(root.join(mutant.file)).expect(mutant.file);
            let times = source.matches(mutant.text).count();
            assert_eq!(
                times, 1,
                "mutant {number} ({}): {:?} in {}; change the row along with the line",
                mutant.danger, mutant.text, mutant.file
            );
            assert_ne!(mutant.text, mutant.replacement, "mutant {number} changes nothing");
        }
    }

    #[test]
    fn no_two_mutants_are_the_same() {
        let dangers: BTreeSet<_> = MUTANTS.iter().map(|mutant| mutant.danger).collect();
        let changes: BTreeSet<_> =
            MUTANTS.iter().map(|mutant| (mutant.file, mutant.text, mutant.replacement)).collect();
        assert_eq!((dangers.len(), changes.len()), (MUTANTS.len(), MUTANTS.len()));
    }

    #[test]
    fn mutants_are_chosen_by_number_and_a_wrong_one_says_which_there_are() {
        assert_eq!(choose(&[]).expect("all exist").len(), MUTANTS.len());
        assert_eq!(choose(&[2]).expect("it exists")[0].1.danger, MUTANTS[1].danger);
        let error = choose(&[0]).expect_err("they count from 1");
        assert!(error.to_string().contains(&MUTANTS.len().to_string()), "{error}");
    }
}

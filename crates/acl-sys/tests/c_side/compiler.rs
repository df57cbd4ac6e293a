//! The C compiler of the machine.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// A compiler and its dialect.
#[derive(Debug)]
pub(crate) struct Language {
    tool: cc::Tool,
    arguments: [&'static str; 3],
}

impl Language {
    /// C, if there is a compiler.
    pub(crate) fn c11() -> Option<Self> {
        Some(Self { tool: tool(false)?, arguments: ["-std=c11", "-x", "c"] })
    }

    /// C++, if there is a compiler.
    pub(crate) fn cpp17() -> Option<Self> {
        Some(Self { tool: tool(true)?, arguments: ["-std=c++17", "-x", "c++"] })
    }

    /// What the compiler says of a text, warnings as errors; empty when it is content.
    pub(crate) fn check(&self, source: &str) -> String {
        let mut command = self.command();
        command.args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-"]);
        run(command, source)
    }

    /// Makes a shared library of a text.
    pub(crate) fn shared_library(&self, source: &str, path: &Path) {
        let mut command = self.command();
        command.args(["-shared", "-fPIC", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-o"]);
        command.arg(path).arg("-");
        assert_eq!(run(command, source), "", "{}", path.display());
    }

    /// A call that reads a text from its input and finds our headers.
    fn command(&self) -> Command {
        let mut command = self.tool.to_command();
        command
            .arg("-I")
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../acl-sys/headers"))
            .args(self.arguments);
        command.env("LC_ALL", "C");
        command
    }
}

/// The compiler that the crate `cc` finds, if it starts.
fn tool(cpp: bool) -> Option<cc::Tool> {
    let host = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let mut build = cc::Build::new();
    build.cargo_metadata(false).cargo_warnings(false).cpp(cpp).opt_level(0).host(&host).target(&host);
    let tool = build.try_get_compiler().ok()?;
    let version = tool.to_command().arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    version.is_ok_and(|status| status.success()).then_some(tool)
}

fn run(mut command: Command, source: &str) -> String {
    command.stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the compiler starts");
    child.stdin.take().expect("it was asked for").write_all(source.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

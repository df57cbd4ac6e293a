//! The bindings as text: bindgen's types and constants, and the functions as the input of a macro.
//!
//! Bindgen can make a table of functions itself, but its methods panic where the library lacks a symbol. So its
//! `extern` block is rewritten as an invocation of `functions!`, a macro that `acl-sys` writes by hand.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context as _;
use bindgen::callbacks::{IntKind, ParseCallbacks};
use bindgen::{Builder, EnumVariation, Formatter, RustEdition, RustTarget};

/// What the generated file starts with.
const HEAD: &str = "\
//! Types, constants and functions of ACL, made from `headers/` by `cargo xtask bindgen`. Not to be edited.
//! Longer than 600 lines because it is generated.
#![expect(unsafe_code, reason = \"`functions!` of table.rs takes symbols from a C library; its proof stands there\")]

";

/// What bindgen reads: everything, from the headers by name.
const ALL_HEADERS: &str = "#include \"acl/acl.h\"\n#include \"acl/acl_rt_memory_soma.h\"\n";

/// Flags that the functions take as `uint64_t`; all others are `uint32_t`.
const WIDE_FLAGS: &[&str] =
    &["ACL_CONTINUE_ON_FAILURE", "ACL_STOP_ON_FAILURE", "ACL_RT_IPC_MEM_", "ACL_RT_VMM_EXPORT_FLAG_"];

/// Numbers that are sizes, counts or `size_t` values.
const SIZES: &[&str] = &[
    "ACL_DIM_ENDPOINTS",
    "ACL_MAX_",
    "ACL_MDL_LOAD_FROM_",
    "ACL_WORKSPACE_MEM_OPTIMIZE_",
    "ACL_PKG_VERSION_",
    "ACL_IPC_EVENT_HANDLE_SIZE",
    "MAX_MEM_UCE_INFO_ARRAY_SIZE",
    "UCE_INFO_RESERVED_SIZE",
    "ACL_RT_MEM_UCE_INFO_MAX_NUM",
];

/// Gives each macro the type with which the functions take it.
#[derive(Debug)]
struct TypeOfMacro;

impl ParseCallbacks for TypeOfMacro {
    fn int_macro(&self, name: &str, _value: i64) -> Option<IntKind> {
        let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
        Some(if is_error_code(name) {
            IntKind::Custom { name: "aclError", is_signed: true }
        } else if starts(WIDE_FLAGS) {
            IntKind::U64
        } else if starts(SIZES) {
            IntKind::Custom { name: "usize", is_signed: false }
        } else {
            IntKind::U32
        })
    }
}

fn is_error_code(name: &str) -> bool {
    name.starts_with("ACL_ERROR_") || name == "ACL_SUCCESS" || name == "ACL_RT_SUCCESS"
}

/// Makes the bindings for the headers below `headers`.
///
/// # Errors
///
/// When libclang is missing, or refuses a header.
pub(super) fn generate(headers: &Path) -> anyhow::Result<String> {
    load_libclang()?;
    let folder = headers.to_str().context("the path of the repository is not UTF-8, which libclang needs")?;
    let target = RustTarget::stable(85, 0).map_err(|error| anyhow::anyhow!("{error}"))?;
    let bindings = Builder::default()
        .header_contents("all_headers.h", ALL_HEADERS)
        .clang_args(["-I", folder, "-std=c11", "--target=x86_64-unknown-linux-gnu"])
        .allowlist_item("acl.*|ACL_.*|MAX_MEM_UCE_.*|UCE_INFO_.*")
        .default_enum_style(EnumVariation::NewType { is_bitfield: false, is_global: false })
        .bitfield_enum("aclrtMemMallocPolicy")
        .prepend_enum_name(false)
        .derive_partialeq(true)
        .derive_eq(true)
        .impl_debug(true)
        .merge_extern_blocks(true)
        .use_core()
        .rust_target(target)
        .rust_edition(RustEdition::Edition2024)
        .disable_header_comment()
        .parse_callbacks(Box::new(TypeOfMacro))
        .formatter(Formatter::Prettyplease)
        .generate()
        .context("libclang refused the headers")?;
    rewrite(&bindings.to_string())
}

/// Bindgen panics when it cannot load libclang; this finds out first, and says what to do.
fn load_libclang() -> anyhow::Result<()> {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    // The only function of bindgen that tells whether libclang is there, and it panics when it is not.
    let version = std::panic::catch_unwind(bindgen::clang_version);
    std::panic::set_hook(hook);
    version.map(|_| ()).map_err(|_| {
        anyhow::anyhow!(
            "libclang was not found; install it (Debian: `apt-get install libclang-dev`), or set LIBCLANG_PATH to the \
             folder that holds libclang.so. Only `cargo xtask bindgen` needs it"
        )
    })
}

/// Replaces the one `extern` block by an invocation of `functions!`.
fn rewrite(bindings: &str) -> anyhow::Result<String> {
    const OPEN: &str = "unsafe extern \"C\" {\n";
    let (before, rest) = bindings.split_once(OPEN).context("bindgen wrote no function")?;
    let (block, after) = rest.split_once("\n}\n").context("the block of functions has no end")?;
    anyhow::ensure!(!after.contains(OPEN), "bindgen wrote two blocks of functions");
    let mut out = format!("{HEAD}{}\n{}\nfunctions! {{\n", before.trim_end(), after.trim_end());
    let mut function = String::new();
    for line in block.lines().map(str::trim) {
        if line.starts_with("///") || line.starts_with("#[") {
            writeln!(out, "    {line}")?;
            continue;
        }
        if !function.is_empty() && !function.ends_with('(') {
            function.push(' ');
        }
        function.push_str(line.strip_prefix("pub ").unwrap_or(line));
        if function.ends_with(';') {
            writeln!(out, "    {}", function.replace(", )", ")"))?;
            function.clear();
        }
    }
    anyhow::ensure!(function.is_empty(), "the last function has no end: {function}");
    out.push_str("}\n");
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_become_one_invocation_and_everything_else_stays() {
        let from_bindgen = "pub type aclError = i32;\nunsafe extern \"C\" {\n    /// Starts; ends.\n    pub fn \
                            a(\n        x: *const u8,\n        y: u8,\n    ) -> aclError;\n    pub fn b();\n}\npub type \
                            C = u8;\n";
        let made = rewrite(from_bindgen).expect("one block");
        assert!(made.starts_with(HEAD));
        assert!(made.ends_with(
            "pub type aclError = i32;\npub type C = u8;\nfunctions! {\n    /// Starts; ends.\n    fn a(x: *const \
             u8, y: u8) -> aclError;\n    fn b();\n}\n"
        ));
    }

    #[test]
    fn a_macro_has_the_type_with_which_functions_take_it() {
        let kind = |name| format!("{:?}", TypeOfMacro.int_macro(name, 1).expect("every macro has a type"));
        assert!(kind("ACL_ERROR_RT_MEMORY_ALLOCATION").contains("aclError"));
        assert!(kind("ACL_SUCCESS").contains("aclError"));
        assert_eq!(kind("ACL_EVENT_SYNC"), "U32");
        assert_eq!(kind("ACL_STOP_ON_FAILURE"), "U64");
        assert!(kind("ACL_MAX_DIM_CNT").contains("usize"));
    }
}

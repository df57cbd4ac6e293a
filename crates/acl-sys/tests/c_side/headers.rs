//! The headers as C and C++ programs see them.

use super::compiler::Language;

/// Compiles each header alone, so that each includes what it needs.
fn compile_each(language: &Language) {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("headers/acl");
    let mut count = 0;
    for entry in folder.read_dir().expect("the headers are there") {
        let header = entry.expect("readable").file_name();
        assert_eq!(
            language.check(&format!("#include \"acl/{}\"\nextern int not_empty;\n", header.display())),
            "",
            "{}",
            header.display()
        );
        count += 1;
    }
    assert!(count > 5, "only {count} headers");
}

#[test]
fn each_header_is_c11_without_a_warning() {
    compile_each(&Language::c11().expect("these tests need a C compiler"));
}

#[test]
fn each_header_is_cpp17_without_a_warning() {
    match Language::cpp17() {
        Some(language) => compile_each(&language),
        None => println!("skipped: no C++ compiler"),
    }
}

#[test]
fn a_warning_would_be_seen() {
    let c11 = Language::c11().expect("these tests need a C compiler");
    assert_ne!(c11.check("int answer(int unused) { return 0; }\n"), "");
}

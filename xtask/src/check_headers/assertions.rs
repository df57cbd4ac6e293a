//! The C file: one assertion for each fact, each on a line of its own that starts from a `#line` with a running number,
//! so that an error of the compiler leads back to the fact.

use std::fmt::Write as _;

use super::abi::{Abi, Constant, Function, Kind, Type};

/// A C file and what each of its assertions says.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) text: String,
    /// The fact of each assertion, by its number.
    pub(super) facts: Vec<String>,
}

/// What the file includes. Two things make headers of some versions C where they are C++ only: `constexpr` for a constant,
/// and an enumeration named without `enum`. The pool of CANN was in `acl_rt_memory.h` at first.
pub(super) const INCLUDES: &str = "\
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#define constexpr static const
typedef enum acldumpType acldumpType;
#include \"acl/acl.h\"
#include \"acl/acl_mdl.h\"
#include \"acl/acl_rt_allocator.h\"
#if __has_include(\"acl/acl_rt_memory_soma.h\")
#include \"acl/acl_rt_memory_soma.h\"
#elif __has_include(\"acl/acl_rt_memory.h\")
#include \"acl/acl_rt_memory.h\"
#endif
";

/// The name of the file in the compiler's messages.
pub(super) const FILE: &str = "acl_assertions";

impl Source {
    fn assert(&mut self, fact: String, code: &str) {
        self.facts.push(fact);
        // Writing to a String cannot fail. Lines count from 1.
        let _ = writeln!(self.text, "#line {} \"{FILE}\"\n{code}", self.facts.len());
    }
}

/// Writes the assertions.
pub(super) fn write(abi: &Abi) -> Source {
    let mut source = Source { text: INCLUDES.to_owned(), facts: Vec::new() };
    for constant in &abi.constants {
        write_constant(&mut source, constant);
    }
    for declared in &abi.types {
        write_type(&mut source, declared);
    }
    for function in &abi.functions {
        write_function(&mut source, function);
    }
    source
}

/// The compiler comes to these only when it has found no error before: they go into a file of their own.
///
/// Some constants of the vendor are objects (`static const int`), which C does not take in a static assertion. A call of
/// a function that the optimiser must be able to remove serves for all.
fn write_constant(source: &mut Source, Constant { name, value }: &Constant) {
    let number = source.facts.len();
    source.assert(
        format!("{name} is {value}"),
        &format!(
            "extern void differs{number}(void) __attribute__((error(\"differs\"))); void check{number}(void); void \
             check{number}(void) {{ if ((long long)({name}) != {value}LL) differs{number}(); }}"
        ),
    );
}

fn write_type(source: &mut Source, Type { name, kind }: &Type) {
    match kind {
        Kind::Enumeration { signed } => {
            let held = if *signed { "int" } else { "unsigned int" };
            source.assert(
                format!("{name} is held as {held}"),
                &format!("_Static_assert(__builtin_types_compatible_p({name}, {held}), \"differs\");"),
            );
        }
        Kind::Alias { same_as } => source.assert(
            format!("{name} is the same as {same_as}"),
            &format!("_Static_assert(__builtin_types_compatible_p({name}, {same_as}), \"differs\");"),
        ),
        Kind::Layout { size, align, fields } => {
            source.assert(
                format!("{name} has {size} bytes, aligned to {align}"),
                &format!(
                    "_Static_assert(sizeof({name}) == {size} && _Alignof({name}) == {align}, \"differs\");"
                ),
            );
            for field in fields {
                let (field, offset, declared) = (&field.name, field.offset, &field.declared);
                source.assert(
                    format!("{name}::{field} is {declared} at {offset}"),
                    &format!(
                        "_Static_assert(offsetof({name}, {field}) == {offset} && \
                         __builtin_types_compatible_p(__typeof__((({name} *)0)->{field}), {declared}), \"differs\");"
                    ),
                );
            }
        }
    }
}

fn write_function(source: &mut Source, Function { name, result, parameters, .. }: &Function) {
    source.assert(
        format!("{result} {name}({parameters})"),
        &format!(
            "_Static_assert(__builtin_types_compatible_p(__typeof__(&{name}), {result} (*)({parameters})), \"differs\");"
        ),
    );
}

#[cfg(test)]
mod tests {
    use super::super::compiler::Compiler;
    use super::*;

    /// The facts that do not hold in a C text that stands in place of the headers.
    fn failures(headers: &str, abi: &Abi) -> Vec<String> {
        let mut source = write(abi);
        source.text =
            source.text.replace(INCLUDES, &format!("#include <stddef.h>\n#include <stdint.h>\n{headers}\n"));
        let here = std::path::Path::new(".");
        Compiler::find().expect("a C compiler").compile(here, &source).expect("it runs")
    }

    fn constant(value: i128) -> Abi {
        Abi { constants: vec![Constant { name: "ACL_A".to_owned(), value }], ..Abi::default() }
    }

    #[test]
    fn a_constant_is_compared_whether_macro_enumerator_or_object() {
        for headers in ["#define ACL_A 5U", "enum { ACL_A = 5 };", "static const int ACL_A = 5;"] {
            assert_eq!(failures(headers, &constant(5)), [""; 0], "{headers}");
            assert_eq!(failures(headers, &constant(6)), ["ACL_A is 6"], "{headers}");
        }
    }

    #[test]
    fn a_layout_is_compared_in_size_and_fields() {
        let layout = |size, offset, declared: &str| {
            let declared = declared.to_owned();
            let fields = vec![super::super::abi::Field { name: "b".to_owned(), offset, declared }];
            let kind = Kind::Layout { size, align: 8, fields };
            Abi { types: vec![Type { name: "aclThing".to_owned(), kind }], ..Abi::default() }
        };
        let headers = "typedef struct { uint32_t a; uint64_t b; } aclThing;";
        assert_eq!(failures(headers, &layout(16, 8, "uint64_t")), [""; 0]);
        assert_eq!(
            failures(headers, &layout(24, 4, "uint64_t")),
            ["aclThing has 24 bytes, aligned to 8", "aclThing::b is uint64_t at 4"]
        );
        assert_eq!(failures(headers, &layout(16, 8, "void *")), ["aclThing::b is void * at 8"]);
    }

    #[test]
    fn a_function_is_compared_in_every_parameter_and_its_result() {
        let function = |result: &str, parameters: &str| Abi {
            functions: vec![Function {
                name: "aclOpen".to_owned(),
                result: result.to_owned(),
                parameters: parameters.to_owned(),
                required: false,
            }],
            ..Abi::default()
        };
        let headers = "int aclOpen(const void *a, size_t b);";
        assert_eq!(failures(headers, &function("int", "const void *x, size_t y")), [""; 0]);
        for (result, parameters) in [
            ("long", "const void *x, size_t y"),
            ("int", "void *x, size_t y"),
            ("int", "const void *x, uint32_t y"),
        ] {
            assert_eq!(failures(headers, &function(result, parameters)).len(), 1, "{result} ({parameters})");
        }
    }
}

//! What people and programs see of a result.

pub(crate) mod json;
pub(crate) mod numbers;
pub(crate) mod table;

use comfy_table::{ContentArrangement, ContentLineStyle, LineStyle, Table, TableStyle};

/// A header, a line under it, and two spaces between columns: one of padding, one for the line that is not drawn.
const LIGHT: TableStyle = TableStyle::new()
    .header_lines(ContentLineStyle::none())
    .header_separator(LineStyle::none().fill('─').junction('─'))
    .content_lines(ContentLineStyle::none());

/// An empty table with a header, which wraps its cells on a terminal that is too narrow.
pub(crate) fn plain_table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(LIGHT).set_content_arrangement(ContentArrangement::Dynamic).set_header(header.to_vec());
    for column in table.column_iter_mut() {
        column.set_padding((0, 1));
    }
    table
}

//! Records with others joined to them, as JSON.

use crate::encode::json::write_cell;
use crate::row::{Key, Layout, MemberKind, RowSet};
use crate::value::Row;

/// Appends a row to a set: its shown cells encoded, its links as keys.
pub fn push_row(set: &mut RowSet, layout: &Layout, row: &impl Row) {
    for (index, cell) in layout.cells.iter().enumerate() {
        if cell.shown {
            write_cell(&mut set.bytes, cell, row.get(index));
        }
        set.end_cell();
    }
    for cell in &layout.links {
        set.push_link(Key::of(row.get(*cell)));
    }
    set.end_row();
}

/// Appends the record at `row` with everything joined to it.
pub fn write_record(out: &mut Vec<u8>, layout: &Layout, set: &RowSet, row: usize) {
    if layout.presence.is_some_and(|link| set.link(row, link).is_none()) {
        out.extend_from_slice(b"null");
        return;
    }
    write_members(out, layout, set, row, |_cell| true);
}

/// Appends an object of the wanted ones among the cells of the record at `row`, and of everything joined to it.
pub fn write_members(
    out: &mut Vec<u8>,
    layout: &Layout,
    set: &RowSet,
    row: usize,
    is_wanted: impl Fn(usize) -> bool,
) {
    let mut open = b'{';
    for (index, cell) in
        layout.cells.iter().enumerate().filter(|(index, cell)| cell.shown && is_wanted(*index))
    {
        out.push(open);
        open = b',';
        out.extend_from_slice(&cell.key);
        let member = layout.members.iter().find(|member| member.kind == MemberKind::Record { cell: index });
        match member {
            Some(member) => write_one(out, &member.layout, set, row, member.joins[0]),
            None => out.extend_from_slice(set.cell(row, index)),
        }
    }
    for member in layout.members.iter().filter(|member| member.kind == MemberKind::List) {
        out.push(open);
        open = b',';
        out.extend_from_slice(&member.key);
        write_list(out, &member.layout, set, row, &member.joins);
    }
    out.extend_from_slice(if open == b'{' { b"[]" } else { b"}" });
}

/// The record that a foreign key leads to, or null if it leads nowhere or may not be seen.
fn write_one(out: &mut Vec<u8>, layout: &Layout, set: &RowSet, row: usize, join: usize) {
    let joined = &set.joined[join];
    let found = set.link(row, joined.parent_link).and_then(|key| joined.groups.get(key));
    match found.and_then(|rows| rows.first()) {
        Some(child) => write_record(out, layout, &joined.rows, *child),
        None => out.extend_from_slice(b"null"),
    }
}

fn write_list(out: &mut Vec<u8>, layout: &Layout, set: &RowSet, row: usize, joins: &[usize]) {
    out.push(b'[');
    let mut first = true;
    for join in joins {
        let joined = &set.joined[*join];
        let found = set.link(row, joined.parent_link).and_then(|key| joined.groups.get(key));
        for child in found.into_iter().flatten() {
            if !first {
                out.push(b',');
            }
            first = false;
            write_record(out, layout, &joined.rows, *child);
        }
    }
    out.push(b']');
}

//! Rows as features of GeoJSON (SPEC 14).

use crate::encode::json::write_cell;
use crate::encode::tree::write_members;
use crate::encode::wkt::{GeometryError, write_geometry};
use crate::row::{Layout, RowSet};
use crate::value::{Row, ValueRef};

/// Which cells of a row are no properties of its feature.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FeatureLayout {
    /// The cell of the primary key; without one the id is null.
    pub id: Option<usize>,
    /// The cell of the geometry, in well-known text; without one the geometry is null.
    pub geometry: Option<usize>,
}

impl FeatureLayout {
    fn is_property(self, cell: usize) -> bool {
        self.id != Some(cell) && self.geometry != Some(cell)
    }
}

/// Appends a row as a feature; if its geometry cannot be written, nothing.
///
/// Id and geometry are written whether their cells are shown or not, of the others those that are.
pub fn write_feature(
    out: &mut Vec<u8>,
    layout: &Layout,
    feature: FeatureLayout,
    row: &impl Row,
) -> Result<(), GeometryError> {
    write_parts(
        out,
        |out| match feature.id {
            Some(id) => write_cell(out, &layout.cells[id], row.get(id)),
            None => out.extend_from_slice(b"null"),
        },
        |out| {
            let mut open = b'{';
            for (index, cell) in layout.cells.iter().enumerate() {
                if cell.shown && feature.is_property(index) {
                    out.push(open);
                    open = b',';
                    out.extend_from_slice(&cell.key);
                    write_cell(out, cell, row.get(index));
                }
            }
            // compat: no properties are an empty PHP array, as a record without columns is.
            out.extend_from_slice(if open == b'{' { b"[]" } else { b"}" });
        },
        |out| match feature.geometry.map(|cell| row.get(cell)) {
            None | Some(ValueRef::Null) => write_null(out),
            Some(ValueRef::Text(wkt)) => write_geometry(out, wkt),
            Some(ValueRef::Bytes(bytes)) => write_geometry(out, &String::from_utf8_lossy(bytes)),
            Some(other) => Err(GeometryError::NotDecoded(format!("{other:?}").into())),
        },
    )
}

/// Appends the record at `row` with everything joined to it as a feature; if its geometry cannot be written, nothing.
///
/// Of the cells only those that are shown are in a row set, so id and geometry have to be.
pub fn write_joined_feature(
    out: &mut Vec<u8>,
    layout: &Layout,
    feature: FeatureLayout,
    set: &RowSet,
    row: usize,
) -> Result<(), GeometryError> {
    let shown = |cell: Option<usize>| cell.filter(|cell| layout.cells[*cell].shown);
    write_parts(
        out,
        |out| match shown(feature.id) {
            Some(id) => out.extend_from_slice(set.cell(row, id)),
            None => out.extend_from_slice(b"null"),
        },
        |out| write_members(out, layout, set, row, |cell| feature.is_property(cell)),
        |out| match shown(feature.geometry).map(|cell| set.cell(row, cell)) {
            None | Some(b"null") => write_null(out),
            Some(json) => match serde_json::from_slice::<String>(json) {
                Ok(wkt) => write_geometry(out, &wkt),
                Err(_no_string) => Err(GeometryError::NotDecoded(String::from_utf8_lossy(json).into())),
            },
        },
    )
}

fn write_null(out: &mut Vec<u8>) -> Result<(), GeometryError> {
    out.extend_from_slice(b"null");
    Ok(())
}

fn write_parts(
    out: &mut Vec<u8>,
    id: impl FnOnce(&mut Vec<u8>),
    properties: impl FnOnce(&mut Vec<u8>),
    geometry: impl FnOnce(&mut Vec<u8>) -> Result<(), GeometryError>,
) -> Result<(), GeometryError> {
    let start = out.len();
    out.extend_from_slice(b"{\"type\":\"Feature\",\"id\":");
    id(out);
    out.extend_from_slice(b",\"properties\":");
    properties(out);
    out.extend_from_slice(b",\"geometry\":");
    let written = geometry(out);
    match written {
        Ok(()) => out.push(b'}'),
        Err(_) => out.truncate(start),
    }
    written
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::encode::geojson::{FeatureLayout, write_feature, write_joined_feature};
    use crate::encode::json::key;
    use crate::encode::tree::push_row;
    use crate::row::{Joined, Key, Layout, LayoutCell, Member, MemberKind, RowSet};
    use crate::sql::CellKind;
    use crate::value::{Row, Value, ValueRef};

    struct Cells(Vec<Value>);

    impl Row for Cells {
        fn get(&self, index: usize) -> ValueRef<'_> {
            self.0[index].as_ref()
        }
    }

    fn text(text: &str) -> Value {
        Value::Text(text.into())
    }

    fn layout(cells: &[(&str, CellKind, bool)]) -> Layout {
        let cells = cells.iter().map(|(name, kind, shown)| LayoutCell {
            name: (*name).into(),
            key: key(name),
            kind: *kind,
            shown: *shown,
        });
        Layout { cells: cells.collect(), ..Layout::default() }
    }

    /// What both ways write.
    #[track_caller]
    fn check(layout: &Layout, feature: FeatureLayout, row: Vec<Value>, expected: Result<&str, &str>) {
        let row = Cells(row);
        let mut set = RowSet::new(layout.cells.len(), 0);
        push_row(&mut set, layout, &row);
        let (mut plain, mut joined) = (b"[".to_vec(), b"[".to_vec());
        let results = [
            write_feature(&mut plain, layout, feature, &row),
            write_joined_feature(&mut joined, layout, feature, &set, 0),
        ];
        for (result, out) in results.into_iter().zip([plain, joined]) {
            assert_eq!(result.map_err(|e| e.to_string()), expected.map(|_| ()).map_err(str::to_owned));
            assert_eq!(String::from_utf8(out).expect("it is UTF-8"), format!("[{}", expected.unwrap_or("")));
        }
    }

    const SHOP: [(&str, CellKind, bool); 3] =
        [("name", CellKind::Text, true), ("nr", CellKind::Integer, true), ("place", CellKind::Text, true)];

    #[test]
    fn a_row_is_a_feature() {
        let (id, geometry) = (Some(1), Some(2));
        let layout = layout(&SHOP);
        let row = |place: Value| vec![text("Bär/Co"), Value::Int(7), place];
        let table = [
            (
                FeatureLayout { id, geometry },
                text("POINT(1 2.5)"),
                r#"{"type":"Feature","id":7,"properties":{"name":"Bär\/Co"},"geometry":{"type":"Point","coordinates":[1,2.5]}}"#,
            ),
            (
                FeatureLayout { id, geometry },
                Value::Null,
                r#"{"type":"Feature","id":7,"properties":{"name":"Bär\/Co"},"geometry":null}"#,
            ),
            (
                FeatureLayout { id, geometry: None },
                text("POINT(1 2)"),
                r#"{"type":"Feature","id":7,"properties":{"name":"Bär\/Co","place":"POINT(1 2)"},"geometry":null}"#,
            ),
            (
                FeatureLayout::default(),
                Value::Null,
                r#"{"type":"Feature","id":null,"properties":{"name":"Bär\/Co","nr":7,"place":null},"geometry":null}"#,
            ),
        ];
        for (feature, place, expected) in table {
            check(&layout, feature, row(place), Ok(expected));
        }
        let collection = row(text("GEOMETRYCOLLECTION(POINT(1 2))"));
        let expected = Err("Geometry type not supported: GEOMETRYCOLLECTION");
        check(&layout, FeatureLayout { id, geometry }, collection, expected);
    }

    #[test]
    fn no_properties_are_an_empty_array() {
        let layout = layout(&[("nr", CellKind::Integer, true), ("secret", CellKind::Text, false)]);
        let feature = FeatureLayout { id: Some(0), geometry: None };
        let expected = r#"{"type":"Feature","id":7,"properties":[],"geometry":null}"#;
        check(&layout, feature, vec![Value::Int(7), text("x")], Ok(expected));
    }

    #[test]
    fn what_is_joined_is_a_property() {
        let child = Arc::new(layout(&[("size", CellKind::Integer, true)]));
        let mut layout = layout(&SHOP);
        let link = layout.link(1);
        let member =
            Member { key: key("halls"), kind: MemberKind::List, joins: vec![0], layout: child.clone() };
        layout.members.push(member);
        let mut set = RowSet::new(3, 1);
        push_row(&mut set, &layout, &Cells(vec![text("A"), Value::Int(7), text("POINT(1 2)")]));
        let mut halls = RowSet::new(1, 0);
        push_row(&mut halls, &child, &Cells(vec![Value::Int(50)]));
        let groups = [(Key::Int(7), vec![0])].into();
        set.joined.push(Joined { parent_link: link, rows: halls, groups });
        let mut out = Vec::new();
        let feature = FeatureLayout { id: Some(1), geometry: Some(2) };
        write_joined_feature(&mut out, &layout, feature, &set, 0).expect("the geometry is fine");
        let expected = r#"{"type":"Feature","id":7,"properties":{"name":"A","halls":[{"size":50}]},"geometry":{"type":"Point","coordinates":[1,2]}}"#;
        assert_eq!(String::from_utf8(out).expect("it is UTF-8"), expected);
    }
}

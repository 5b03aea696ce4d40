//! The tree of AND and OR that the names of filters make (SPEC 8.2).

use crate::error::Error;
use crate::plan::scope::Scope;
use crate::schema::TableId;
use crate::sql::Condition;

/// limit: how deep groups of filters may nest.
const GROUP_DEPTH_MAX: usize = 16;

/// The runs of digits and of other characters that a suffix consists of: `1a2` is 1, a, 2.
pub fn group_path<'a>(group: &'a str, scope: &Scope<'_>, table: TableId) -> Result<Vec<&'a str>, Error> {
    let mut path = Vec::new();
    let mut rest = group;
    while let Some(first) = rest.chars().next() {
        let is_digit = first.is_ascii_digit();
        let end = rest.find(|next: char| next.is_ascii_digit() != is_digit).unwrap_or(rest.len());
        path.push(&rest[..end]);
        rest = &rest[end..];
    }
    if path.len() > GROUP_DEPTH_MAX {
        let sentence = format!("nests deeper than {GROUP_DEPTH_MAX} groups");
        return Err(Error::invalid(&scope.at(table).alias, "filter", sentence));
    }
    Ok(path)
}

/// A place in the tree: its own conditions and those of its children.
#[derive(Default)]
pub struct Node<'a> {
    own: Vec<Condition>,
    children: Vec<(&'a str, Node<'a>)>,
}

impl<'a> Node<'a> {
    /// Hangs a condition where the path says.
    pub fn insert(&mut self, path: &[&'a str], condition: Condition) {
        let [first, rest @ ..] = path else { return self.own.push(condition) };
        let index = match self.children.iter().position(|(name, _)| name == first) {
            Some(index) => index,
            None => {
                self.children.push((first, Node::default()));
                self.children.len() - 1
            }
        };
        self.children[index].1.insert(rest, condition);
    }

    /// All of its own, and one of its children's; children without conditions were never made.
    pub fn condition(self) -> Condition {
        let mut all = self.own;
        let mut any: Vec<Condition> = self.children.into_iter().map(|(_, node)| node.condition()).collect();
        match any.len() {
            0 => {}
            1 => all.push(any.remove(0)),
            _ => all.push(Condition::Any(any)),
        }
        if all.len() == 1 { all.remove(0) } else { Condition::All(all) }
    }
}

//! `/columns`: what tables and columns are, read and changed (SPEC 15).

use engine::exec;
use treeql::error::Error;
use treeql::remodel::{
    AskedColumn, AskedTable, Remodel, Shown, add_column, alter_column, create_table, drop_column, drop_table,
    rename_table, write_column, write_database, write_table,
};
use treeql::request::Operation;
use treeql::sql::SchemaChange;

use crate::api::context::Context;
use crate::http::{Incoming, Response};

/// `GET /columns`.
pub fn database(context: &Context<'_>) -> Response {
    let mut document = Vec::new();
    write_database(&mut document, shown(context, Operation::Reflect));
    Response::json(document)
}

/// `GET /columns/{table}`.
pub fn table(context: &Context<'_>, table: &str) -> Result<Response, Error> {
    let shown = shown(context, Operation::Reflect);
    let mut document = Vec::new();
    write_table(&mut document, shown, shown.table(table, "table")?.1);
    Ok(Response::json(document))
}

/// `GET /columns/{table}/{column}`.
pub fn column(context: &Context<'_>, table: &str, column: &str) -> Result<Response, Error> {
    let shown = shown(context, Operation::Reflect);
    let table = shown.table(table, "table")?.1;
    let mut document = Vec::new();
    write_column(&mut document, shown, table, shown.column(table, column)?);
    Ok(Response::json(document))
}

/// `POST /columns`.
pub async fn create(context: &Context<'_>, body: Incoming) -> Result<Response, Error> {
    let body = body.read(context.limits.body_bytes).await?;
    let asked = AskedTable::parse(&body, context.body_kind(), context.mode())?;
    change(context, Some(create_table(remodel(context), asked)?)).await
}

/// `PUT /columns/{table}`.
pub async fn rename(context: &Context<'_>, body: Incoming, table: &str) -> Result<Response, Error> {
    shown(context, Operation::Remodel).table(table, "table")?;
    let body = body.read(context.limits.body_bytes).await?;
    let asked = AskedTable::parse(&body, context.body_kind(), context.mode())?;
    change(context, rename_table(remodel(context), table, asked)?).await
}

/// `DELETE /columns/{table}`.
pub async fn remove(context: &Context<'_>, table: &str) -> Result<Response, Error> {
    change(context, Some(drop_table(remodel(context), table)?)).await
}

/// `POST /columns/{table}`.
pub async fn add(context: &Context<'_>, body: Incoming, table: &str) -> Result<Response, Error> {
    shown(context, Operation::Remodel).table(table, "table")?;
    let body = body.read(context.limits.body_bytes).await?;
    let asked = AskedColumn::parse(&body, context.body_kind(), context.mode())?;
    change(context, Some(add_column(remodel(context), table, &asked)?)).await
}

/// `PUT /columns/{table}/{column}`.
pub async fn alter(
    context: &Context<'_>,
    body: Incoming,
    table: &str,
    column: &str,
) -> Result<Response, Error> {
    let shown = shown(context, Operation::Remodel);
    shown.column(shown.table(table, "table")?.1, column)?;
    let body = body.read(context.limits.body_bytes).await?;
    let asked = AskedColumn::parse(&body, context.body_kind(), context.mode())?;
    change(context, alter_column(remodel(context), table, column, &asked)?).await
}

/// `DELETE /columns/{table}/{column}`.
pub async fn remove_column(context: &Context<'_>, table: &str, column: &str) -> Result<Response, Error> {
    change(context, Some(drop_column(remodel(context), table, column)?)).await
}

fn shown<'a>(context: &'a Context<'_>, operation: Operation) -> Shown<'a> {
    Shown { schema: &context.snapshot.schema, policy: &context.policy, mode: context.mode(), operation }
}

fn remodel<'a>(context: &'a Context<'_>) -> Remodel<'a> {
    Remodel {
        shown: shown(context, Operation::Remodel),
        dialect: context.snapshot.setting.dialect,
        publication: &context.database.options().publication,
    }
}

/// Makes the change, if there is one; whoever asks after the answer sees it.
async fn change(context: &Context<'_>, change: Option<SchemaChange>) -> Result<Response, Error> {
    if let Some(change) = change {
        exec::remodel(context.database, change).await?;
    }
    Ok(Response::json("true"))
}

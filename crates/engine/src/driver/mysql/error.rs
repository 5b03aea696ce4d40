//! Error numbers to errors of the protocol, never by message text (SPEC 13).

use mysql_async::{DriverError, Error as Native};
use treeql::error::{Code, Error};

use crate::driver::options::{no_room, too_slow};
use crate::driver::retry::Failure;
use crate::driver::transaction::conflict;

/// The error that a caller sees. Texts of the engine go to the log only.
pub fn convert(error: &Native) -> Error {
    let Native::Server(server) = error else {
        if failure(error) == Failure::Lost {
            return Error::new(
                Code::DatabaseUnavailable,
                "the connection to the database was lost; try again",
            );
        }
        tracing::error!(%error, "unexpected error of the MySQL driver");
        return Error::new(Code::Internal, "Database error");
    };
    match server.code {
        // ER_DUP_ENTRY, ER_DUP_KEY, ER_DUP_ENTRY_WITH_KEY_NAME, ER_TABLE_EXISTS_ERROR, ER_DUP_FIELDNAME; ours (sql/insert.rs)
        1062 | 1022 | 1586 | 1050 | 1060 | 1242 => Error::new(Code::DuplicateKey, ""),
        // NOT NULL, no default, foreign keys, checks of MariaDB and of MySQL
        1048 | 1364 | 1216 | 1217 | 1451 | 1452 | 4025 | 3819 => Error::new(Code::DataIntegrityViolation, ""),
        // changes of tables: a foreign key that does not fit or is in the way, a key that is missing or needed
        1005
        | 1025
        | 1215
        | 1822
        | 1828
        | 1829
        | 1832..=1834
        | 3780
        | 3730
        | 1553
        | 150
        | 1075
        | 1138
        | 1171
        | 1072
        | 3108
        | 3837 => Error::new(Code::DataIntegrityViolation, ""),
        // changes of tables: a column or a row that is too long, a bad default, a bad name
        1074 | 1118 | 1426 | 1427 | 1063 | 1067 | 1166 | 1103 | 1059 | 1101 | 1170 | 1252 | 1273 => {
            Error::new(Code::ValueNotAccepted, "the database does not accept the definition")
        }
        // out of range, too long, wrong or truncated value, division, invalid JSON, invalid geometry
        1264 | 1406 | 1366 | 1292 | 1265 | 1365 | 1411 | 1367 | 1690 | 1416 | 3140 | 3037 | 4079 | 4037
        | 4038 => Error::new(Code::ValueNotAccepted, "a value does not fit the type of its column"),
        1213 | 1205 | 3572 => conflict(),
        1044 | 1045 | 1142 | 1143 | 1227 => Error::new(Code::OperationForbidden, "")
            .detail("database", "the database user of this server may not do that"),
        1290 | 1792 | 1836 => {
            Error::new(Code::OperationForbidden, "").detail("database", "the database is read-only")
        }
        // MAX_STATEMENT_TIME, max_execution_time, interrupted
        1969 | 3024 | 1317 => too_slow(),
        // too many connections, shutdown, shard or cluster not available
        1040 | 1203 | 1053 | 1047 | 1158..=1161 | 1180 | 2013 | 12701 => {
            Error::new(Code::DatabaseUnavailable, "the database does not answer; try again")
        }
        // the disk, the tablespace, or the table is full
        1021 | 1114 => no_room(),
        // Spider: the storage server of this row does not answer, or `spider_max_connections` wait for it; others do.
        1429 | 12713 => Error::new(
            Code::DatabaseUnavailable,
            "the server that holds this record does not answer; try again",
        ),
        // What a distributed engine does not do, as changing the column that says where a row is stored: of MySQL,
        // ShardingSphere, TiDB, and Vitess.
        1235 | 1997 | 8216 => cannot(),
        1105 if server.message.contains("VT12001") => cannot(),
        code => {
            tracing::error!(code, state = %server.state, text = %server.message, "a statement failed");
            Error::new(Code::Internal, "Database error")
        }
    }
}

fn cannot() -> Error {
    Error::new(Code::ValueNotAccepted, "the engine of this database cannot do that")
}

/// What the error says about running the statement again.
pub fn failure(error: &Native) -> Failure {
    match error {
        // Deadlock and lock wait timeout; TiDB's write conflicts.
        Native::Server(server)
            if matches!(server.code, 1213 | 1205 | 3572 | 8002 | 8005 | 8022 | 8028 | 9007) =>
        {
            Failure::Conflict
        }
        // Galera: this node is not part of the cluster, and ran nothing.
        Native::Server(server) if server.code == 1047 => Failure::Elsewhere,
        // 1180 and 12701: the commit of Galera or Spider broke off.
        Native::Server(server) if matches!(server.code, 1053 | 2013 | 1158..=1161 | 1180 | 1927 | 12701) => {
            Failure::Lost
        }
        Native::Server(_) => Failure::Final,
        Native::Io(_) | Native::Driver(DriverError::ConnectionClosed | DriverError::PacketOutOfOrder) => {
            Failure::Lost
        }
        Native::Driver(_) | Native::Other(_) | Native::Url(_) => Failure::Final,
    }
}

-- On every head: the same table, whose rows are on the storage servers. KEY(id) says which has which.
CREATE TABLE visitors (
    id       BIGINT      NOT NULL PRIMARY KEY,
    site     VARCHAR(60) NOT NULL DEFAULT '',
    yes      SMALLINT    NOT NULL DEFAULT 0,
    no       SMALLINT    NOT NULL DEFAULT 0,
    closes   SMALLINT    NOT NULL DEFAULT 0,
    seen     TIMESTAMP   NOT NULL DEFAULT CURRENT_TIMESTAMP,
    answered TIMESTAMP   NULL,
    KEY visitors_answered (answered)
) ENGINE=SPIDER DEFAULT CHARSET=utf8mb4 COMMENT='wrapper "mysql", table "visitors"'
PARTITION BY KEY (id) (
    PARTITION p1 COMMENT = 'server "shard1"',
    PARTITION p2 COMMENT = 'server "shard2"',
    PARTITION p3 COMMENT = 'server "shard3"'
);

-- One row for each visitor who was asked. The id is 63 random bits that only the visitor's browser knows: who has it
-- is that visitor.
CREATE TABLE visitors (
    id       BIGINT    NOT NULL PRIMARY KEY,
    site     TEXT      NOT NULL DEFAULT '',
    yes      SMALLINT  NOT NULL DEFAULT 0,
    no       SMALLINT  NOT NULL DEFAULT 0,
    closes   SMALLINT  NOT NULL DEFAULT 0,
    seen     TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    answered TIMESTAMP
) WITHOUT ROWID;

-- The console lists the latest answers; visitors without one are not in this index.
CREATE INDEX visitors_answered ON visitors (answered) WHERE answered IS NOT NULL;

CREATE TRIGGER visitors_answer AFTER UPDATE OF yes, no ON visitors WHEN OLD.answered IS NULL
BEGIN
    UPDATE visitors SET answered = CURRENT_TIMESTAMP WHERE id = NEW.id;
END;

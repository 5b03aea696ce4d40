-- On every storage server: the rows of its share of the visitors.
CREATE TABLE visitors (
    id       BIGINT      NOT NULL PRIMARY KEY,
    site     VARCHAR(60) NOT NULL DEFAULT '',
    yes      SMALLINT    NOT NULL DEFAULT 0,
    no       SMALLINT    NOT NULL DEFAULT 0,
    closes   SMALLINT    NOT NULL DEFAULT 0,
    seen     TIMESTAMP   NOT NULL DEFAULT CURRENT_TIMESTAMP,
    answered TIMESTAMP   NULL,
    KEY visitors_answered (answered)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TRIGGER visitors_answer BEFORE UPDATE ON visitors FOR EACH ROW
    SET NEW.answered = IF(OLD.answered IS NULL AND NEW.yes + NEW.no > 0, CURRENT_TIMESTAMP, OLD.answered);

-- Deletes and reads of the feed lock the tables in this order, too.
-- Where the operator has switched the feed off, the column has no default.
DO $$ BEGIN
	IF EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'plants'::regclass AND attname = 'changed_in' AND atthasdef) THEN
		ALTER TABLE "plants" ALTER COLUMN "changed_in" SET DEFAULT case when current_setting('synchronous_commit') = 'off'
	    then case when set_config('synchronous_commit', 'local', true) = 'local' then pg_current_xact_id() end
	    else pg_current_xact_id() end;
	END IF;
END $$;--> statement-breakpoint
ALTER TABLE "plant_deletions" ALTER COLUMN "changed_in" SET DEFAULT case when current_setting('synchronous_commit') = 'off'
    then case when set_config('synchronous_commit', 'local', true) = 'local' then pg_current_xact_id() end
    else pg_current_xact_id() end;

-- Before this nobody could be heard. A standby that was promoted has been up for longer.
SELECT pg_postmaster_start_time()

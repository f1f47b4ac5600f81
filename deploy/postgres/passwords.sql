-- Gives the roles of roles.sql the passwords in OWNER_PASSWORD and SERVICE_PASSWORD. For psql only. The reader gets none
-- and so cannot connect: give it one by \password nowserving_reader.
\getenv owner OWNER_PASSWORD
\getenv service SERVICE_PASSWORD
ALTER ROLE nowserving_owner PASSWORD :'owner';
ALTER ROLE nowserving PASSWORD :'service';

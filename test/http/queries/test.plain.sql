/*
id: 11111111-aaaa-4000-8000-000000000001
name: test.plain
max_rows: 10
params:
  project: { type: string, required: true, description: Whose rows. }
*/
SELECT @project AS project

module example.org/site

go 1.19

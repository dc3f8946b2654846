module example.org/helpdesk

go 1.19

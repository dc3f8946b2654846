# frozen_string_literal: true

# Each account has its own entries.
$LOAD_PATH.unshift(File.join(__dir__, "lib"))
require "fileutils"
require "statements/summary"

FileUtils.mkdir_p("days")
File.write("days/1.csv", "account,cents,text\nA,1000,rent\nB,250,tea\n")
accounts = Statements::Reader.new("days").by_account
found = [accounts.size, accounts["A"].sum(&:cents), accounts["B"].sum(&:cents), accounts["C"].size]
puts found.inspect
exit(found == [2, 1000, 250, 0] ? 0 : 1)

# frozen_string_literal: true

# After reading, no file of the folder is open.
$LOAD_PATH.unshift(File.join(__dir__, "lib"))
require "fileutils"
require "statements/reader"

FileUtils.mkdir_p("days")
20.times { |n| File.write("days/#{n}.csv", "account,cents,text\nA,#{n},x\n") }
GC.disable
Statements::Reader.new("days").entries
open = ObjectSpace.each_object(File).count { |file| !file.closed? && file.path.end_with?(".csv") }
puts "#{open} files are open"
exit(open.zero? ? 0 : 1)

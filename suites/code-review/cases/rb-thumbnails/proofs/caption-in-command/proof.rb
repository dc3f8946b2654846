# frozen_string_literal: true

# What a file was called is never executed.
$LOAD_PATH.unshift(File.join(__dir__, "lib"))
require "gallery/picture"
require "gallery/thumbnails"

thumbnails = Gallery::Thumbnails.new("out", program: "true")
picture = Gallery::Picture.new(id: 7, name: "lake'; touch executed; '.png", path: "pictures/7")
begin
  thumbnails.path_for(picture)
rescue Gallery::Thumbnails::Failed => e
  puts e.message
end
abort "the name of the picture was executed" if File.exist?("executed")

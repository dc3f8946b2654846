# frozen_string_literal: true

require "minitest/autorun"
require "tmpdir"
require "gallery/picture"
require "gallery/thumbnails"

class ThumbnailsTest < Minitest::Test
  def test_makes_each_size_once
    Dir.mktmpdir do |folder|
      program = File.join(folder, "pixtool")
      File.write(program, "#!/bin/sh\nfor last; do :; done\necho made > \"$last\"\n")
      File.chmod(0o755, program)
      thumbnails = Gallery::Thumbnails.new(File.join(folder, "out"), program: program)
      picture = Gallery::Picture.new(id: 7, name: "lake.png", path: "/pictures/7")
      assert_equal 3, thumbnails.prepare(picture).count { |path| File.exist?(path) }
    end
  end
end

# frozen_string_literal: true

require "fileutils"
require "open3"

module Gallery
  # Makes small versions of pictures, in several sizes and with a caption.
  class Thumbnails
    SIZES = { small: "200x200", medium: "640x640", large: "1280x1280" }.freeze

    class Failed < StandardError; end

    def initialize(folder, program: "pixtool")
      @folder = folder
      @program = program
    end

    # The path of a version of the picture, which is made if it is missing.
    def path_for(picture, size = :small)
      target = File.join(@folder, size.to_s, "#{picture.id}.jpg")
      make(picture, SIZES.fetch(size), target) unless File.exist?(target)
      target
    end

    # Makes all versions, such as after an upload.
    def prepare(picture)
      SIZES.each_key.map { |size| path_for(picture, size) }
    end

    private

    def make(picture, geometry, target)
      FileUtils.mkdir_p(File.dirname(target))
      caption = File.basename(picture.name, ".*")
      output, status = Open3.capture2e(
        "#{@program} --size #{geometry} --caption '#{caption}' '#{picture.path}' '#{target}'"
      )
      return if status.success?

      FileUtils.rm_f(target)
      raise Failed, "no thumbnail of #{picture.id}: #{output.lines.last}"
    end
  end
end

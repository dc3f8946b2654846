# frozen_string_literal: true

module Gallery
  # Makes small versions of pictures.
  class Thumbnails
    def initialize(folder, program: "pixtool")
      @folder = folder
      @program = program
    end

    # The path of the small version, which is made if it is missing.
    def path_for(picture)
      target = File.join(@folder, "#{picture.id}.jpg")
      make(picture, target) unless File.exist?(target)
      target
    end

    private

    def make(picture, target)
      done = system(@program, "--size", "200x200", picture.path, target)
      raise "no thumbnail of #{picture.id}" unless done
    end
  end
end

# frozen_string_literal: true

module Gallery
  # A picture as a member uploaded it. `name` is what it was called on the member's computer.
  Picture = Struct.new(:id, :name, :path, keyword_init: true)
end

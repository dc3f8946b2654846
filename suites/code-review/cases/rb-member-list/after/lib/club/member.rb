# frozen_string_literal: true

module Club
  # A member of the club.
  Member = Struct.new(:id, :name, :mail, :joined_on, keyword_init: true)
end
